// event_line: one event of the audit log as a line of the live view.
#include "cli/event_line.h"

#include <algorithm>

#include "base/units.h"

namespace stile::cli {
namespace {

using audit::Key;

Colour colour_of(const audit::Line& line) {
  const auto verdict = line.raw(Key::verdict);
  if (verdict == "deny") return Colour::red;
  if (verdict == "would-deny") return Colour::yellow;
  const auto event = line.raw(Key::event);
  if (event == "open") return Colour::green;
  return event == "close" ? Colour::dim : Colour::bold;
}

void append_padded(std::string& out, std::string_view word, std::size_t width) {
  out.append(word).append(word.size() < width ? width - word.size() : 0, ' ').append(" ");
}

// " label value", if the key exists. The raw value is escaped, so it cannot control the terminal.
void append(std::string& out, const audit::Line& line, Key key, std::string_view label) {
  if (!line.raw(key).empty()) out.append(label).append(line.raw(key));
}

std::string target_of(const audit::Line& line) {
  std::string target;
  append(target, line, Key::method, "");
  append(target, line, Key::host, target.empty() ? "" : " ");
  append(target, line, Key::port, ":");
  append(target, line, Key::path, "");
  return target;
}

std::string outcome_of(const audit::Line& line) {
  std::string outcome;
  append(outcome, line, Key::reason, "  ");
  if (line.raw(Key::reason) == "unknown-agent") append(outcome, line, Key::src, "  from ");
  if (line.raw(Key::event) == "close") {
    outcome += "  up " + bytes_text(line.number(Key::bytes_up)) + ", down " +
               bytes_text(line.number(Key::bytes_down));
    append(outcome, line, Key::duration_ms, ", ");
    outcome += " ms";
    return outcome;
  }
  append(outcome, line, Key::sni, "  sni ");
  append(outcome, line, Key::rule, "  by ");
  append(outcome, line, Key::request, "  ask ");
  append(outcome, line, Key::count, "  count ");
  append(outcome, line, Key::detail, "  ");
  append(outcome, line, Key::actor, "  actor ");
  append(outcome, line, Key::version, "  version ");
  return outcome;
}

// Cuts a long target at its front first: its end is the registered domain, and the reason follows.
std::string fitted(std::string target, const std::string& outcome, std::size_t room) {
  constexpr std::size_t least_target = 24;
  constexpr std::string_view mark = "…";  // one column
  if (target.size() + outcome.size() <= room) return target + outcome;
  const std::size_t left = room > outcome.size() ? room - outcome.size() : 0;
  const std::size_t limit = std::max(least_target, left);
  const std::size_t marks = target.size() > limit ? 1 : 0;
  if (marks > 0) target.erase(0, target.size() - (limit - 1));
  std::string text = target + outcome;
  if (text.size() + marks > room) {
    text.resize(room > marks + 1 ? room - marks - 1 : 0);
    text += mark;
  }
  return marks > 0 ? std::string{mark} + text : text;
}

}  // namespace

std::string event_line(const audit::Line& line, const Terminal& terminal) {
  const auto time = line.raw(Key::ts);  // 2026-11-16T09:00:00.000000Z
  std::string before{time.size() > 19 ? time.substr(11, 8) : time};
  before += ' ';
  append_padded(before, line.raw(Key::agent).empty() ? "-" : line.raw(Key::agent), 12);
  const bool is_observed = line.raw(Key::verdict) == "would-deny";
  std::string event;
  append_padded(event, is_observed ? "would-deny" : line.raw(Key::event), 10);
  const auto shown = before + terminal.coloured(event, colour_of(line));
  const auto target = target_of(line), outcome = outcome_of(line);
  if (terminal.width == 0) return shown + target + outcome;
  const std::size_t used = before.size() + event.size();
  return shown + fitted(target, outcome, terminal.width > used ? terminal.width - used : 0);
}

}  // namespace stile::cli
