// AskScreen: what `stile asks --watch` shows, and what its keys mean. No terminal and no clock of
// its own.
//
// Rows never move under the finger: a new ask comes last, an answered one stays in its place until
// it is cleared, and the selection follows the ask, not the line.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.h"
#include "base/terminal.h"

namespace stile::cli {

enum class ScreenKey : std::uint8_t { other, up, down, enter, escape, erase, letter };

struct KeyPress {
  ScreenKey key = ScreenKey::other;
  char letter = 0;
};
// The next key of what a terminal sent; removes its bytes. nullopt: more bytes are needed, or none
// is there. `is_all`: nothing follows, so that a lone ESC is the key itself.
[[nodiscard]] std::optional<KeyPress> take_key(std::string& bytes, bool is_all);

class AskScreen {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // An answer key counts only this long after its ask was selected by itself: a key that was meant
  // for something else answers nothing.
  static constexpr std::chrono::milliseconds settle_time{700};

  struct Step {
    std::optional<Json> request;  // an answer to send
    bool ends = false;
  };

  explicit AskScreen(std::string agent = {}) : agent_{std::move(agent)} {}

  void take_list(const Json& asks, Time now);    // of the first answer
  void take_event(const Json& event, Time now);  // a line that follows
  void take_about(const Json& agent);            // the answer to `agent` for the selected ask
  void take_result(const Json& request, std::string_view problem);  // empty: the answer was taken
  [[nodiscard]] Step press(const KeyPress& key, Time now);

  [[nodiscard]] std::string selected_id() const;
  [[nodiscard]] std::string selected_agent() const;
  // Whole lines, cut to the width, as many as the height.
  [[nodiscard]] std::vector<std::string> draw(std::size_t width, std::size_t height,
                                              const Terminal& terminal) const;

 private:
  struct Row {
    std::string id;
    Json ask;
    std::string state;  // empty: open
  };
  enum class Prompt : std::uint8_t { none, duration, pattern };

  void add(const Json& ask, Time now);
  void move(int by);
  [[nodiscard]] const Row* selected() const;
  [[nodiscard]] Step answer(const char* verdict, Time now, std::string_view duration = {},
                            bool once = false, std::string_view pattern = {});
  [[nodiscard]] Step press_in_prompt(const KeyPress& key, Time now);
  [[nodiscard]] std::string row_text(const Row& row) const;
  [[nodiscard]] std::vector<std::string> about() const;
  [[nodiscard]] std::string bottom() const;

  std::string agent_;  // only asks of this one; empty: all
  std::vector<Row> rows_;
  std::string selected_;
  Time selected_at_{};  // when a row was selected by itself; zero: a person did it
  Prompt prompt_ = Prompt::none;
  std::string typed_, duration_;
  std::string message_;
  Json about_;
};

}  // namespace stile::cli
