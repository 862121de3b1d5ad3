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

}  // namespace

std::string event_line(const audit::Line& line, const Terminal& terminal) {
  const auto time = line.raw(Key::ts);  // 2026-11-16T09:00:00.000000Z
  std::string before{time.size() > 19 ? time.substr(11, 8) : time};
  before += ' ';
  append_padded(before, line.raw(Key::agent).empty() ? "-" : line.raw(Key::agent), 12);
  const bool is_observed = line.raw(Key::verdict) == "would-deny";
  std::string event;
  append_padded(event, is_observed ? "would-deny" : line.raw(Key::event), 10);
  std::string after = target_of(line) + outcome_of(line);
  if (terminal.width > 0) {
    const std::size_t used = before.size() + event.size();
    const std::size_t room = terminal.width > used ? terminal.width - used : 0;
    if (after.size() > room) after = after.substr(0, room > 0 ? room - 1 : 0) + "…";
  }
  return before + terminal.coloured(event, colour_of(line)) + after;
}

}  // namespace stile::cli
