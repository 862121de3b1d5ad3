// Summary: the requests of the command, reported immediately and at the end.
#include "run/summary.h"

#include <algorithm>
#include <set>

#include "acl/allowing_pattern.h"
#include "acl/pattern.h"
#include "acl/refusal_words.h"
#include "acl/remedy.h"
#include "base/json_value.h"
#include "base/quoted.h"
#include "base/units.h"
#include "config/diagnostics.h"

namespace stile::run {
namespace {

// Bounds memory: the command can request any number of names.
constexpr std::size_t most_hosts = 256;
constexpr std::size_t most_shown = 20;
constexpr std::size_t most_flag_bytes = 4096;

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + ' ' + (count == 1 ? one : many);
}

}  // namespace

void Summary::set_live(Tell tell, Grant grant) {
  tell_ = std::move(tell);
  grant_ = std::move(grant);
}

void Summary::add(std::string_view lines) {
  const std::lock_guard lock{mutex_};
  while (!lines.empty()) {
    const auto end = std::min(lines.find('\n'), lines.size());
    add_line(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  closed_one_.notify_all();
}

void Summary::note(const std::string& line) {
  const std::lock_guard lock{mutex_};
  notes_ += "stile: " + line + '\n';
  if (tell_) tell_(line);
}

void Summary::wait_until_closed(std::chrono::milliseconds longest) {
  std::unique_lock lock{mutex_};
  closed_one_.wait_for(lock, longest, [this] { return closed_ >= let_through_; });
}

void Summary::add_line(std::string_view text) {
  const auto line = Json::parse(text);
  if (!line.is_object()) return;
  const auto event = text_of(line, "event");
  const auto verdict = text_of(line, "verdict");
  if (event == "close") {
    ++closed_;
    bytes_up_ += number_of(line, "bytes_up");
    bytes_down_ += number_of(line, "bytes_down");
  }
  const auto count = std::max<std::uint64_t>(number_of(line, "count"), 1);
  const bool is_observed = event == "open" && verdict == "would-deny";
  if (event == "open") ++let_through_;
  if (event == "deny") refused_ += count;
  if (is_observed) ++observed_;
  if (event != "deny" && !is_observed) return;
  const auto host = text_of(line, "host");
  if (is_harmless(host)) {
    harmless_refused_ += count;
    return;
  }
  Refused refused;
  const auto port = number_of(line, "port");
  const auto scheme = text_of(line, "scheme");
  refused.reason = text_of(line, "reason");
  const auto reason = acl::reason_named(refused.reason).value_or(acl::Reason::internal_error);
  refused.verb = is_observed ? "would refuse" : acl::refusal_words(reason).verb;
  refused.host = host.empty() ? std::string{"(no host)"} : printable(host);
  if (!host.empty() && port > 0) refused.host += ':' + std::to_string(port);
  if (scheme == "https") {
    refused.host =
        printable(text_of(line, "method")) + ' ' + refused.host + printable(text_of(line, "path"));
  }
  // Only valid patterns: the command chooses the host, and people paste this text.
  const bool is_ech = reason == acl::Reason::ech_refused;
  refused.option = is_ech ? "--ech" : "--allow";
  const acl::RefusedRequest request{reason,
                                    scheme == "http" ? acl::Scheme::http : acl::Scheme::tunnel,
                                    host, static_cast<std::uint16_t>(port)};
  const auto remedy = acl::remedy_for(request, policy_.get());
  refused.pattern = is_ech ? acl::allowing_pattern(acl::Reason::host_not_allowed, request.scheme,
                                                   host, request.port)
                           : remedy.pattern;
  if (refused.pattern.empty()) {
    refused.cause = printable(acl::cause_of(reason, remedy, text_of(line, "detail")));
  }
  refused.count = count;
  refused.is_only_observed = is_observed;
  const auto key = refused.reason + ' ' + scheme + ' ' + host + ':' + std::to_string(port);
  add_refusal(key, std::move(refused), refused_asks_.count(text_of(line, "request")) != 0);
}

bool Summary::is_harmless(const std::string& host) const {
  return std::any_of(harmless_.begin(), harmless_.end(), [&](const auto& placed) {
    return acl::covers_names(placed.pattern.kind, placed.pattern.name, acl::Pattern::Kind::exact,
                             host);
  });
}

void Summary::refused_by_person(const std::string& ask) {
  const std::lock_guard lock{mutex_};
  refused_asks_.insert(ask);
}

void Summary::add_refusal(const std::string& key, Refused refused, bool is_known) {
  const auto found = hosts_.find(key);
  if (found != hosts_.end()) {
    found->second.count += refused.count;
  } else if (hosts_.size() >= most_hosts) {
    left_out_ += refused.count;
  } else {
    if (!is_known) tell(refused);
    hosts_.emplace(key, std::move(refused));
  }
}

// "refused a.test:443 (host-not-allowed)"
std::string Summary::Refused::words() const { return verb + ' ' + host + " (" + reason + ')'; }

void Summary::tell(const Refused& refused) {
  if (!tell_ || refused.is_only_observed || told_ > most_shown) return;
  if (++told_ > most_shown) return tell_("more was refused; the summary at the end has all of it");
  auto line = refused.words();
  if (refused.pattern.empty()) {
    line += ": " + refused.cause;
  } else if (!grant_.before.empty() && refused.option == "--allow") {
    line += "; to allow it now: " + grant_.before + refused.pattern + grant_.after;
  } else {
    line += "; to allow it: " + refused.flag();
  }
  tell_(std::move(line));
}

// One line to paste after `stile run`, each flag once.
std::string Summary::flags(const std::vector<const Refused*>& all) {
  std::string text;
  std::set<std::string> known;
  for (const auto* refused : all) {
    if (refused->pattern.empty() || !known.insert(refused->flag()).second) continue;
    if (text.size() + refused->pattern.size() > most_flag_bytes) break;
    text += ' ' + refused->flag();
  }
  return text;
}

std::uint64_t Summary::requests() const {
  const std::lock_guard lock{mutex_};
  return let_through_ + refused_;
}

std::string Summary::text() const {
  const std::lock_guard lock{mutex_};
  if (let_through_ + refused_ == 0) return notes_;
  std::string text = notes_ + "stile: " + counted(let_through_ + refused_, "request", "requests") +
                     ", " + bytes_text(bytes_up_) + " up, " + bytes_text(bytes_down_) + " down; " +
                     std::to_string(refused_) + " refused";
  if (observed_ > 0) text += ", " + std::to_string(observed_) + " would have been";
  if (harmless_refused_ > 0) {
    text += ", " + std::to_string(harmless_refused_) + " of them expected by the profile";
  }
  text += '\n';
  std::vector<const Refused*> most;
  for (const auto& [key, refused] : hosts_) most.push_back(&refused);
  std::stable_sort(most.begin(), most.end(),
                   [](const auto* a, const auto* b) { return a->count > b->count; });
  auto left_out = left_out_;
  for (std::size_t i = 0; i < most.size(); ++i) {
    if (i >= most_shown) {
      left_out += most[i]->count;
      continue;
    }
    text += "stile: " + most[i]->words();
    if (most[i]->count > 1) text += ", " + std::to_string(most[i]->count) + " times";
    if (!most[i]->cause.empty()) text += ": " + most[i]->cause;
    text += '\n';
  }
  if (left_out > 0) text += "stile: and " + std::to_string(left_out) + " more\n";
  if (const auto line = flags(most); !line.empty()) {
    text += "stile: to allow " + std::string{most.size() == 1 ? "it" : "them"} + ":" + line + '\n';
  }
  return text;
}

}  // namespace stile::run
