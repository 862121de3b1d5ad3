// TerminalAsks: asks the person at the terminal about what the command wants and no rule names.
#pragma once

#include <deque>
#include <functional>
#include <set>
#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "control/client.h"
#include "control/follower.h"

namespace stile::run {

// What was asked, in printable words, and the pattern for --allow; the pattern may be empty.
struct TerminalQuestion {
  std::string id, words, pattern;
  std::string unlisted_host;  // "": something else than its host is missing in the policy
};
// The question of a line of `asks` with `follow`. No id: the line is something else, or of another
// agent.
[[nodiscard]] TerminalQuestion question_in(const std::string& line, const std::string& agent);
// The id of an ask that is no longer open; empty: the line is something else.
[[nodiscard]] std::string answered_in(const std::string& line);
// The request for what a person typed; a letter that is none of those offered means no.
[[nodiscard]] std::string answer_to(const std::string& id, char typed);
// The request for what the profile expects to be refused.
[[nodiscard]] std::string expected_refusal_of(const std::string& id);

// On its own thread. A question is put only while the terminal is in line mode and this process is
// in its foreground. While a program draws the screen, only the bell rings. While a shell inside
// runs its job, a line also says what to type in another terminal. Hosts that the profile expects
// to be refused are refused at once: nobody is asked, and the agent does not wait.
class TerminalAsks {
 public:
  using Tell = std::function<void(std::string line)>;
  using IsHarmless = std::function<bool(const std::string& host)>;

  // Whether there is a person to ask: standard error is a terminal, and it is ours.
  [[nodiscard]] static bool is_possible();

  // `client` and `answers` are connections to the control socket that serves the agent.
  TerminalAsks(control::ControlClient client, control::ControlClient answers, std::string agent,
               std::string selector, Tell tell, IsHarmless is_harmless);
  ~TerminalAsks() { stop(); }
  TerminalAsks(const TerminalAsks&) = delete;
  TerminalAsks& operator=(const TerminalAsks&) = delete;

  // Call it after the last fork, when the proxy serves.
  void start();
  void stop();

 private:
  void run();
  [[nodiscard]] bool look();  // takes lines; false: it is over
  [[nodiscard]] bool is_terminal_free() const;
  void ring(const TerminalQuestion& question);
  void put(const std::string& text) const;
  void prompt();
  void take_answer(const std::string& line);

  control::ControlClient answers_;
  control::ControlClient first_;  // until it follows
  std::string agent_, selector_;
  Tell tell_;
  IsHarmless is_harmless_;
  UniqueFd terminal_, stop_in_, stop_out_;
  std::deque<TerminalQuestion> waiting_;
  std::set<std::string> seen_;
  bool is_asking_ = false;                    // the first one that waits is on the terminal
  bool is_enough_ = false;                    // the person wants no more questions in this run
  bool has_rung_ = false, has_told_ = false;  // about the first one that waits
  std::string typed_;
  control::Follower* follower_ = nullptr;
  std::thread thread_;
};

}  // namespace stile::run
