// Summary: what the command asked for, told in a few lines when it has ended.
#include "run/summary.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "acl/pattern.h"
#include "config/diagnostics.h"

namespace stile::run {
namespace {

// The command can ask for as many names as it likes.
constexpr std::size_t most_hosts = 256;
constexpr std::size_t most_shown = 20;

using Json = nlohmann::json;

std::string text_of(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

std::uint64_t number_of(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + ' ' + (count == 1 ? one : many);
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text.data();
}

// What would let this through. Only what a pattern can say: the host is whatever the command
// wrote, and people will paste this into a shell.
std::string flag_for(const std::string& reason, const std::string& scheme, const std::string& host,
                     std::uint64_t port) {
  std::string pattern;
  const auto with_port = host + ':' + std::to_string(port);
  if (reason == "not-tls") {
    pattern = "tcp://" + with_port;
  } else if (reason == "ech-refused") {
    pattern = port == 443 ? host : with_port;
  } else if (reason != "host-not-allowed" && reason != "port-not-allowed") {
    return {};
  } else if (scheme == "http") {
    pattern = "http://" + (port == 80 ? host : with_port);
  } else {
    // A bare pattern is for the ports of the config; that this one is not among them was the
    // reason.
    pattern = port == 443 && reason == "host-not-allowed" ? host : with_port;
  }
  const auto parsed = acl::Pattern::parse(pattern);
  if (!parsed || parsed->kind != acl::Pattern::Kind::exact) return {};
  return (reason == "ech-refused" ? "--ech " : "--allow ") + parsed->text();
}

}  // namespace

void Summary::add(std::string_view lines) {
  const std::lock_guard lock{mutex_};
  while (!lines.empty()) {
    const auto end = std::min(lines.find('\n'), lines.size());
    add_line(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  closed_one_.notify_all();
}

void Summary::wait_until_closed(std::chrono::milliseconds longest) {
  std::unique_lock lock{mutex_};
  closed_one_.wait_for(lock, longest, [this] { return closed_ >= let_through_; });
}

void Summary::add_line(std::string_view text) {
  const auto line = Json::parse(text, nullptr, false);
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
  const auto reason = text_of(line, "reason");
  const auto host = text_of(line, "host");
  const auto port = number_of(line, "port");
  const auto shown = host.empty() ? std::string{"(no host)"}
                                  : config::printable(host) +
                                        (port > 0 ? ':' + std::to_string(port) : std::string{});
  const auto key = reason + ' ' + text_of(line, "scheme") + ' ' + shown;
  auto found = hosts_.find(key);
  if (found == hosts_.end()) {
    if (hosts_.size() >= most_hosts) {
      left_out_ += count;
      return;
    }
    found = hosts_
                .emplace(key, Refused{shown, reason,
                                      flag_for(reason, text_of(line, "scheme"), host, port), 0,
                                      is_observed})
                .first;
  }
  found->second.count += count;
}

std::string Summary::text() const {
  const std::lock_guard lock{mutex_};
  if (let_through_ + refused_ == 0) return {};
  std::string text = "stile: " + counted(let_through_ + refused_, "request", "requests") + ", " +
                     bytes_text(bytes_up_) + " up, " + bytes_text(bytes_down_) + " down; " +
                     std::to_string(refused_) + " refused";
  if (observed_ > 0) text += ", " + std::to_string(observed_) + " would have been";
  text += '\n';
  std::vector<const Refused*> most;
  for (const auto& [key, refused] : hosts_) most.push_back(&refused);
  std::stable_sort(most.begin(), most.end(),
                   [](const auto* a, const auto* b) { return a->count > b->count; });
  auto left_out = left_out_;
  for (std::size_t i = most_shown; i < most.size(); ++i) left_out += most[i]->count;
  most.resize(std::min(most.size(), most_shown));
  for (const auto* refused : most) {
    text += refused->is_only_observed ? "stile: would refuse " : "stile: refused ";
    text += refused->host + " (" + refused->reason + ')';
    if (refused->count > 1) text += ", " + std::to_string(refused->count) + " times";
    if (!refused->flag.empty()) text += "; to allow it: " + refused->flag;
    text += '\n';
  }
  if (left_out > 0) text += "stile: and " + std::to_string(left_out) + " more\n";
  return text;
}

}  // namespace stile::run
