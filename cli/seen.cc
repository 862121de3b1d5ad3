// Seen: the requests of agents and their outcomes, collected from audit logs.
#include "cli/seen.h"

#include <limits>

#include "audit/line.h"
#include "audit/line_source.h"
#include "base/quoted.h"
#include "config/diagnostics.h"

namespace stile::cli {

using audit::Key;

namespace {

SeenTarget target_in(const audit::Line& line) {
  SeenTarget target;
  target.agent = line.text(Key::agent);
  if (target.agent == "-") target.agent.clear();
  if (target.agent.empty()) {
    const auto source = line.raw(Key::src);  // address:port
    target.source = std::string{source.substr(0, source.rfind(':'))};
  }
  target.scheme = line.raw(Key::scheme) == "http" ? acl::Scheme::http : acl::Scheme::tunnel;
  target.host = line.text(Key::host);
  const auto port = line.number(Key::port);
  target.port = port <= std::numeric_limits<std::uint16_t>::max() ? static_cast<std::uint16_t>(port)
                                                                  : std::uint16_t{0};
  // Only the name was asked for, most likely to use it with TLS.
  if (line.raw(Key::method) == "DNS") target.port = 443;
  return target;
}

void count(const audit::Line& line, SeenOutcome& outcome) {
  const auto verdict = line.raw(Key::verdict);
  const std::string reason{line.raw(Key::reason)};
  if (verdict == "allow") {
    ++outcome.allowed;
  } else {
    ++(verdict == "would-deny" ? outcome.observed : outcome.refused)[reason];
  }
}

}  // namespace

std::string target_text(const SeenTarget& target) {
  const auto scheme = target.scheme == acl::Scheme::http ? "http://" : "";
  const auto port = target.port == 0 ? "" : ':' + std::to_string(target.port);  // 0: none named
  return scheme + printable(target.host) + port;
}

std::uint64_t SeenOutcome::count() const {
  std::uint64_t sum = allowed;
  for (const auto& [reason, count] : observed) sum += count;
  for (const auto& [reason, count] : refused) sum += count;
  return sum;
}

const Seen::Requests& Seen::inside(const SeenTarget& target) const {
  static const Requests none;
  const auto found = inside_.find(target);
  return found == inside_.end() ? none : found->second;
}

void Seen::add_inside(const audit::Line& line, const SeenTarget& target) {
  if (line.raw(Key::scheme) != "https" || line.raw(Key::path).empty()) return;
  Requests& requests = inside_[target];
  SeenRequest request{line.text(Key::method), line.text(Key::path)};
  auto found = requests.find(request);
  if (found == requests.end()) {
    if (inside_count_ >= max_requests) {
      ++dropped_;
      return;
    }
    ++inside_count_;
    found = requests.emplace(std::move(request), SeenOutcome{}).first;
  }
  count(line, found->second);
}

void Seen::add(const audit::Line& line) {
  const auto event = line.raw(Key::event);
  // A close repeats what its open has already reported.
  if (event != "open" && event != "deny") return;
  if (line.raw(Key::host).empty()) {
    without_host_ += line.number(Key::count);
    return;
  }
  if (first_.empty()) first_ = line.raw(Key::ts);
  last_ = line.raw(Key::ts);
  auto target = target_in(line);
  auto found = targets_.find(target);
  if (found == targets_.end()) {
    if (targets_.size() >= max_targets) {
      ++dropped_;
      return;
    }
    found = targets_.emplace(std::move(target), SeenOutcome{}).first;
  }
  count(line, found->second);
  add_inside(line, found->first);
}

void Seen::add_line(std::string_view text) {
  audit::Line line;
  const auto kind = audit::read_line(text, line);
  if (kind == audit::LineKind::whole) {
    add(line);
  } else if (kind == audit::LineKind::foreign) {
    ++foreign_lines_;
  }
}

Result<void> Seen::read(const std::string& file) {
  auto source = audit::LineSource::open(file);
  if (!source) return source.error();
  while (source->next()) add_line(source->line());
  if (!source->error().empty()) return Error{source->error()};
  return {};
}

}  // namespace stile::cli
