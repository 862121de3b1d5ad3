// TerminalAsks: asks the person at the terminal about what the command wants and no rule names.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "control/client.h"
#include "control/follower.h"
#include "run/command_pause.h"
#include "run/terminal.h"

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
// in its foreground. The command writes on the same terminal and could draw another question over
// ours, so it is stopped until the answer. While a program draws the screen, only the bell rings.
// While a shell inside runs its job, a line also says what to type in another terminal. Hosts that
// the profile expects to be refused are refused at once: no person is asked, and the agent does not
// wait.
class TerminalAsks {
 public:
  using Tell = std::function<void(std::string line)>;
  using IsHarmless = std::function<bool(const std::string& host)>;
  using OnRefusal = std::function<void(const std::string& ask)>;  // before the answer is sent

  // Whether there is a person to ask: standard error is a terminal, and it is ours.
  [[nodiscard]] static bool is_possible();

  struct Place {
    std::string agent;
    std::string selector;            // what `stile` needs to find the control socket
    std::chrono::milliseconds hold;  // how long a request waits for its answer
  };
  // `client` and `answers` are connections to the control socket that serves the agent. Create it
  // before the command starts.
  TerminalAsks(control::ControlClient client, control::ControlClient answers, Place place,
               Tell tell, IsHarmless is_harmless, OnRefusal on_refusal);
  ~TerminalAsks() { stop(); }
  TerminalAsks(const TerminalAsks&) = delete;
  TerminalAsks& operator=(const TerminalAsks&) = delete;

  // Call it after the last fork, when the proxy serves. The process is the first one inside.
  void start(pid_t first_process);
  // This process got a signal: a question ends with what the person typed to interrupt it.
  void on_signal(int number);
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    TerminalQuestion question;
    Clock::time_point until;  // then its request is refused
  };

  void run();
  [[nodiscard]] bool look();          // takes lines; false: it is over
  [[nodiscard]] bool hear_signals();  // false: it is over
  void read_terminal();
  [[nodiscard]] bool is_terminal_free() const;
  void ring(const TerminalQuestion& question);
  void put(const std::string& text) const;
  void prompt();
  void end_question();  // the command goes on
  void drop_late();
  void take_answer(const std::string& line);

  control::ControlClient answers_;
  control::ControlClient first_;  // until it follows
  Place place_;
  Tell tell_;
  IsHarmless is_harmless_;
  OnRefusal on_refusal_;
  UniqueFd terminal_, signals_in_, signals_out_;
  PersonsLine line_;
  std::optional<CommandPause> command_;
  std::deque<Waiting> waiting_;
  std::set<std::string> seen_;
  bool is_asking_ = false;  // the first one that waits is on the terminal, the command is stopped
  bool is_enough_ = false;  // the person wants no more questions in this run
  bool has_rung_ = false, has_told_ = false;  // about the first one that waits
  std::string typed_;
  control::Follower* follower_ = nullptr;
  std::thread thread_;
};

}  // namespace stile::run
