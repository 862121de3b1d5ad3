// AskScreen: what `stile asks --watch` shows, and what its keys mean.
#include "cli/ask_screen.h"

#include <algorithm>

#include "acl/pattern.h"
#include "audit/text.h"
#include "base/quoted.h"
#include "base/units.h"
#include "cli/ask_words.h"

namespace stile::cli {
namespace {

constexpr std::size_t max_typed = 253, max_rows = 2000;

std::string cut_to(std::string text, std::size_t width) {
  if (width > 0 && text.size() > width) {
    text.resize(width - 1);
    text += '>';
  }
  return text;
}

std::string padded_to(std::string text, std::size_t width) {
  text = cut_to(std::move(text), width);
  text.append(width - text.size(), ' ');
  return text;
}

// All of a text, in lines: the end of a long host name says whose it is.
void append_wrapped(std::vector<std::string>& lines, const std::string& text, std::size_t width) {
  std::size_t at = 0;
  do {
    lines.push_back(text.substr(at, width));
    at += width;
  } while (width > 0 && at < text.size());
}

}  // namespace

std::optional<KeyPress> take_key(std::string& bytes, bool is_all) {
  if (bytes.empty()) return std::nullopt;
  const char first = bytes.front();
  if (first == '\x1b') {
    if (bytes.size() < 3 && !is_all) return std::nullopt;
    const bool is_sequence = bytes.size() >= 3 && (bytes[1] == '[' || bytes[1] == 'O');
    const char end = is_sequence ? bytes[2] : '\0';
    bytes.erase(0, is_sequence ? 3 : 1);
    if (!is_sequence) return KeyPress{ScreenKey::escape, 0};
    if (end == 'A') return KeyPress{ScreenKey::up, 0};
    if (end == 'B') return KeyPress{ScreenKey::down, 0};
    // The rest of a longer sequence ("\x1b[15~") is not text.
    while (!bytes.empty() && end >= '0' && end <= '9' && bytes.front() != '~') bytes.erase(0, 1);
    if (end >= '0' && end <= '9' && !bytes.empty()) bytes.erase(0, 1);
    return KeyPress{};
  }
  bytes.erase(0, 1);
  if (first == '\r' || first == '\n') return KeyPress{ScreenKey::enter, 0};
  if (first == '\x7f' || first == '\b') return KeyPress{ScreenKey::erase, 0};
  if (first == '\x03') return KeyPress{ScreenKey::letter, 'q'};
  if (first < ' ' || first > '~') return KeyPress{};
  return KeyPress{ScreenKey::letter, first};
}

void AskScreen::add(const Json& ask, Time now) {
  const auto id = text_of(ask, "id");
  if (id.empty() || (!agent_.empty() && text_of(ask, "agent") != agent_)) return;
  const auto known =
      std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.id == id; });
  if (known != rows_.end()) {
    known->ask = ask;
    return;
  }
  if (rows_.size() >= max_rows) return;
  rows_.push_back({id, ask, {}});
  if (selected() != nullptr) return;
  selected_ = id;
  selected_at_ = now;
}

void AskScreen::take_list(const Json& asks, Time now) {
  for (const Json& ask : asks) add(ask, now);
}

void AskScreen::take_event(const Json& event, Time now) {
  if (text_of(event, "event") == "ask") return add(object_of(event, "ask"), now);
  if (text_of(event, "event") != "answer") return;
  const auto id = text_of(event, "id");
  for (Row& row : rows_) {
    if (row.id == id) row.state = printable(text_of(event, "state"));
  }
}

void AskScreen::take_about(const Json& agent) { about_ = agent; }

void AskScreen::take_result(const Json& request, std::string_view problem) {
  if (problem.empty()) {
    message_ = text_of(request, "verdict") == "allow" ? "approved" : "refused";
  } else {
    message_ = printable(problem);
  }
}

const AskScreen::Row* AskScreen::selected() const {
  const auto found = std::find_if(rows_.begin(), rows_.end(),
                                  [this](const Row& row) { return row.id == selected_; });
  return found == rows_.end() ? nullptr : &*found;
}

std::string AskScreen::selected_id() const { return selected() == nullptr ? "" : selected_; }

std::string AskScreen::selected_agent() const {
  const Row* row = selected();
  return row == nullptr ? "" : text_of(row->ask, "agent");
}

void AskScreen::move(int by) {
  if (rows_.empty()) return;
  const Row* row = selected();
  const auto at = row == nullptr ? 0 : row - rows_.data() + by;
  const auto last = static_cast<std::ptrdiff_t>(rows_.size()) - 1;
  selected_ = rows_[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at, 0, last))].id;
  selected_at_ = {};
}

AskScreen::Step AskScreen::answer(const char* verdict, Time now, std::string_view duration,
                                  bool once, std::string_view pattern) {
  const Row* row = selected();
  if (row == nullptr) return {};
  if (!row->state.empty()) {
    message_ = "this ask is no longer open";
    return {};
  }
  if (selected_at_ != Time{} && now - selected_at_ < settle_time) {
    message_ = "a new ask has just come; look, then press the key again";
    return {};
  }
  Json request{{"action", "answer"}, {"ask", row->id}, {"verdict", verdict}};
  if (const auto time = parse_duration(std::string{duration})) {
    request.set("ttl_seconds", std::chrono::duration_cast<std::chrono::seconds>(*time).count());
  }
  if (once) request.set("max_requests", 1U);
  if (!pattern.empty()) {
    request.set("hosts", std::vector<std::string>{std::string{pattern}});
  }
  return {std::move(request), false};
}

AskScreen::Step AskScreen::press(const KeyPress& key, Time now) {
  if (prompt_ != Prompt::none) return press_in_prompt(key, now);
  message_.clear();
  if (key.key == ScreenKey::up) move(-1);
  if (key.key == ScreenKey::down) move(1);
  switch (key.letter) {
    case 'q':
      return {std::nullopt, true};
    case 'j':
      move(1);
      break;
    case 'k':
      move(-1);
      break;
    case 'a':
      return answer("allow", now, "10m");
    case 'h':
      return answer("allow", now, "1h");
    case 'o':
      return answer("allow", now, {}, true);
    case 'n':
      return answer("deny", now);
    case 'c':
      std::erase_if(rows_,
                    [this](const Row& row) { return !row.state.empty() && row.id != selected_; });
      break;
    case 'e':
      if (selected() != nullptr && selected()->state.empty()) {
        prompt_ = Prompt::duration;
        typed_ = "10m";
      }
      break;
    default:
      break;
  }
  return {};
}

// First how long, then how wide.
AskScreen::Step AskScreen::press_in_prompt(const KeyPress& key, Time now) {
  if (key.key == ScreenKey::escape) prompt_ = Prompt::none;
  if (key.key == ScreenKey::erase && !typed_.empty()) typed_.pop_back();
  if (key.key == ScreenKey::letter && typed_.size() < max_typed) typed_ += key.letter;
  if (key.key != ScreenKey::enter) return {};
  const Row* row = selected();
  if (row == nullptr) {
    prompt_ = Prompt::none;
    return {};
  }
  if (prompt_ == Prompt::duration) {
    if (!parse_duration(typed_)) {
      message_ = "how long is a time such as 10m, 1h30m";
      return {};
    }
    message_.clear();
    duration_ = typed_;
    typed_.clear();
    if (is_for_one_request(row->ask)) {  // nothing to widen
      prompt_ = Prompt::none;
      return answer("allow", now, duration_);
    }
    prompt_ = Prompt::pattern;
    return {};
  }
  if (!typed_.empty() && !acl::Pattern::parse(typed_)) {
    message_ = "not a pattern; .example.org is the name and everything below it";
    return {};
  }
  prompt_ = Prompt::none;
  return answer("allow", now, duration_, false, typed_);
}

std::string AskScreen::row_text(const Row& row) const {
  const std::string mark = row.id == selected_ ? "> " : "  ";
  const std::string held = number_of(row.ask, "held") > 0 ? "waits" : "";
  return mark + padded_to(row.state.empty() ? held : row.state, 8) + ' ' +
         padded_to(printable(text_of(row.ask, "agent")), 14) + ' ' + wanted(row.ask);
}

std::vector<std::string> AskScreen::about() const {
  const Row* row = selected();
  if (row == nullptr) return {"  no request waits for an answer"};
  const Json& ask = row->ask;
  std::vector<std::string> lines{
      "  ask " + row->id + " of " + printable(text_of(ask, "agent")) + ": " + wanted(ask),
      "  without an answer: " + printable(text_of(ask, "reason")) + "; tried " +
          audit::counted(number_of(ask, "count"), "time") + ", " + text_of(ask, "held") +
          " held now"};
  const auto words = agents_words(ask);
  lines.push_back(words.empty() ? "" : "  the agent says (untrusted): " + words);
  if (const auto alike = likeness(ask); !alike.empty()) lines.back() = "  take care: it " + alike;
  const Json& agent = object_of(about_, "agent");
  if (text_of(agent, "id") == text_of(ask, "agent")) {
    const Json& counters = object_of(agent, "counters");
    lines.push_back("  so far " + text_of(counters, "requests_allowed") + " requests allowed, " +
                    text_of(counters, "requests_denied") + " refused; " +
                    std::to_string(list_of(agent, "grants").size()) + " grants; up " +
                    bytes_text(number_of(counters, "bytes_up")));
  } else {
    lines.emplace_back();
  }
  return lines;
}

std::string AskScreen::bottom() const {
  if (prompt_ == Prompt::duration) return "  how long? " + typed_ + "_   (enter; escape: back)";
  if (prompt_ == Prompt::pattern) {
    return "  as which pattern? (empty: exactly this) " + typed_ + "_";
  }
  return message_.empty() ? "" : "  " + message_;
}

std::vector<std::string> AskScreen::draw(std::size_t width, std::size_t height,
                                         const Terminal& terminal) const {
  std::vector<std::string> about_lines;
  for (const auto& line : about()) append_wrapped(about_lines, line, width);
  const std::size_t fixed = about_lines.size() + 5;
  const std::size_t room = height > fixed ? height - fixed : 1;
  const Row* row = selected();
  const std::size_t at = row == nullptr ? 0 : static_cast<std::size_t>(row - rows_.data());
  const std::size_t first = at < room ? 0 : at - room + 1;
  std::vector<std::string> lines;
  const auto open =
      std::count_if(rows_.begin(), rows_.end(), [](const Row& one) { return one.state.empty(); });
  lines.push_back(terminal.coloured(
      cut_to("  " + audit::counted(static_cast<std::uint64_t>(open), "open ask"), width),
      Colour::bold));
  for (std::size_t i = first; i < first + room; ++i) {
    if (i >= rows_.size()) {
      lines.emplace_back();
      continue;
    }
    const Row& one = rows_[i];
    const Colour colour = !one.state.empty()    ? Colour::dim
                          : one.id == selected_ ? Colour::bold
                                                : Colour::none;
    lines.push_back(terminal.coloured(cut_to(row_text(one), width), colour));
  }
  lines.emplace_back();
  lines.insert(lines.end(), about_lines.begin(), about_lines.end());
  lines.push_back(terminal.coloured(cut_to(bottom(), width), Colour::yellow));
  lines.push_back(
      cut_to("  a 10 minutes  h an hour  o once  e how long and how wide  n no", width));
  lines.push_back(cut_to("  up/down choose  c clear the answered ones  q quit", width));
  return lines;
}

}  // namespace stile::cli
