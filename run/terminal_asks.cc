// TerminalAsks: asks the person at the terminal about what the command wants and no rule names.
#include "run/terminal_asks.h"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "acl/allowing_pattern.h"
#include "base/json_value.h"
#include "base/quoted.h"

namespace stile::run {
namespace {

constexpr int look_again_ms = 250;
constexpr std::int64_t whole_run_seconds = 30 * 86'400;  // longer than a command runs
constexpr std::size_t max_typed_line = 4096;

bool is_line_mode(int terminal) {
  termios settings{};
  return ::tcgetattr(terminal, &settings) == 0 && (settings.c_lflag & ICANON) != 0;
}

// Whatever the command has left: an escape sequence without an end, output that is held back or
// goes to a printer, margins, colours, another character set. What stands below is cleared, so
// that no other question is there.
std::string plain_screen() {
  const char* terminal = ::secure_getenv("TERM");
  if (terminal == nullptr || std::string_view{terminal} == "dumb") return "\n";
  return "\x18\x1b\\\x1b[4i\x1b[?2026l\x1b[!p\x1b[m\x1b(B\x0f\n\x1b[J";
}

// A null if the line is another one.
Json event_in(const std::string& line, std::string_view name) {
  auto event = Json::parse(line);
  return text_of(event, "event") == name ? event : Json{};
}

}  // namespace

TerminalQuestion question_in(const std::string& line, const std::string& agent) {
  const auto event = event_in(line, "ask");
  const Json& ask = object_of(event, "ask");
  if (!ask.is_object() || text_of(ask, "agent") != agent) return {};
  const auto host = text_of(ask, "host"), scheme = text_of(ask, "scheme");
  const auto port = number_of(ask, "port");
  const auto reason = text_of(ask, "reason");
  const bool is_one_request = reason == "method-not-allowed" || reason == "path-not-allowed";
  std::string words = host + ':' + std::to_string(port);
  if (scheme != "connect") words.insert(0, scheme + "://");
  if (is_one_request) words = text_of(ask, "method") + ' ' + words + text_of(ask, "path");
  if (const auto like = text_of(ask, "looks_like"); !like.empty()) {
    words += "; take care: it looks like " + like;
  }
  std::string pattern;
  if (!is_one_request && port > 0 && port < 65'536) {
    const auto way = scheme == "http" ? acl::Scheme::http : acl::Scheme::tunnel;
    const auto why = acl::reason_named(reason).value_or(acl::Reason::host_not_allowed);
    pattern = acl::allowing_pattern(why, way, host, static_cast<std::uint16_t>(port));
  }
  return {text_of(ask, "id"), printable(words), pattern,
          reason == "host-not-allowed" ? host : std::string{}};
}

std::string answered_in(const std::string& line) { return text_of(event_in(line, "answer"), "id"); }

std::string answer_to(const std::string& id, char typed) {
  Json request{{"action", "answer"}, {"ask", id}, {"verdict", "allow"}};
  if (typed == 'o') {
    request.set("max_requests", 1);
  } else if (typed == 'r' || typed == 'a') {
    request.set("ttl_seconds", whole_run_seconds);
  } else {
    request.set("verdict", "deny");
  }
  return request.dump();
}

std::string expected_refusal_of(const std::string& id) {
  return Json{
      {"action", "answer"}, {"ask", id}, {"verdict", "deny"}, {"reason", "expected by the profile"}}
      .dump();
}

bool TerminalAsks::is_possible() {
  if (::isatty(STDERR_FILENO) == 0) return false;
  const UniqueFd terminal{::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)};
  return terminal && ::tcgetpgrp(terminal.get()) == ::getpgrp();
}

TerminalAsks::TerminalAsks(control::ControlClient client, control::ControlClient answers,
                           Place place, Tell tell, IsHarmless is_harmless, OnRefusal on_refusal)
    : answers_{std::move(answers)},
      first_{std::move(client)},
      place_{std::move(place)},
      tell_{std::move(tell)},
      is_harmless_{std::move(is_harmless)},
      on_refusal_{std::move(on_refusal)},
      terminal_{::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)},
      line_{terminal_.get()} {}

void TerminalAsks::start(pid_t first_process) {
  std::array<int, 2> ends{};
  if (!terminal_ || ::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  signals_in_.reset(ends[0]);
  signals_out_.reset(ends[1]);
  command_.emplace(first_process);
  const auto answer = first_.ask(R"({"action":"asks","follow":true})");
  if (!answer || !control::is_ok(*answer)) return;
  thread_ = std::thread{[this] {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    run();
  }};
}

void TerminalAsks::on_signal(int number) {
  if (!signals_out_) return;
  const auto byte = static_cast<char>(number);
  [[maybe_unused]] const ssize_t sent = ::write(signals_out_.get(), &byte, 1);
}

void TerminalAsks::stop() {
  if (!thread_.joinable()) return;
  signals_out_.reset();
  thread_.join();
}

void TerminalAsks::run() {
  control::Follower follower{std::move(first_)};
  follower_ = &follower;
  for (bool goes_on = true; goes_on;) {
    std::array<pollfd, 3> ready{pollfd{signals_in_.get(), POLLIN, 0},
                                pollfd{follower.fd(), POLLIN, 0},
                                pollfd{is_asking_ ? terminal_.get() : -1, POLLIN, 0}};
    const int found = ::poll(ready.data(), ready.size(), waiting_.empty() ? -1 : look_again_ms);
    if (found < 0 && errno != EINTR) break;
    if (ready[0].revents != 0) goes_on = hear_signals();
    if (goes_on && ready[1].revents != 0) goes_on = look();
    if (!goes_on) break;
    if (is_asking_ && (ready[2].revents & POLLIN) != 0) read_terminal();
    drop_late();
    if (!is_asking_ && !waiting_.empty()) prompt();
  }
  if (is_asking_) {
    put("\n");
    end_question();
  }
  follower_ = nullptr;
}

bool TerminalAsks::hear_signals() {
  char number = 0;
  ssize_t got = 0;
  while ((got = ::read(signals_in_.get(), &number, 1)) > 0) {
    if (!is_asking_) continue;
    if (number == SIGCONT) {
      // The shell outside has continued the command, which may have drawn over the question.
      put("\n");
      end_question();
    } else if (number == SIGINT || number == SIGQUIT || number == SIGTERM || number == SIGHUP) {
      put("\n");
      take_answer("no");
    }
  }
  return got != 0;
}

void TerminalAsks::read_terminal() {
  std::array<char, 256> bytes;
  const ssize_t got = ::read(terminal_.get(), bytes.data(), bytes.size());
  if (got > 0) typed_.append(bytes.data(), static_cast<std::size_t>(got));
  const auto end = typed_.find('\n');
  if (end == std::string::npos && typed_.size() <= max_typed_line) return;
  if (!command_->holds()) return end_question();  // as after SIGCONT: ask again
  take_answer(typed_.substr(0, end));
}

bool TerminalAsks::look() {
  auto taken = follower_->take();
  for (const auto& line : taken.lines) {
    auto question = question_in(line, place_.agent);
    if (!question.id.empty() && seen_.insert(question.id).second) {
      if (!question.unlisted_host.empty() && is_harmless_(question.unlisted_host)) {
        static_cast<void>(answers_.ask(expected_refusal_of(question.id)));
        continue;
      }
      if (is_enough_) {
        static_cast<void>(answers_.ask(answer_to(question.id, 'n')));
        continue;
      }
      waiting_.push_back({std::move(question), Clock::now() + place_.hold});
    }
    const auto answered = answered_in(line);
    if (answered.empty()) continue;
    const bool is_first = !waiting_.empty() && waiting_.front().question.id == answered;
    if (is_asking_ && is_first) {
      put("\nstile: answered elsewhere\n");
      end_question();
    }
    if (is_first) has_rung_ = has_told_ = false;
    std::erase_if(waiting_, [&](const Waiting& one) { return one.question.id == answered; });
  }
  return !taken.is_over;
}

bool TerminalAsks::is_terminal_free() const {
  return is_line_mode(terminal_.get()) && ::tcgetpgrp(terminal_.get()) == ::getpgrp();
}

void TerminalAsks::put(const std::string& text) const {
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t sent = ::write(terminal_.get(), rest.data(), rest.size());
    if (sent < 0 && errno != EINTR) return;
    if (sent > 0) rest.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void TerminalAsks::ring(const TerminalQuestion& question) {
  if (!std::exchange(has_rung_, true)) put("\a");
  // Not while a program draws: the line would come when it ends, and may be out of date by then.
  if (!is_line_mode(terminal_.get()) || std::exchange(has_told_, true)) return;
  tell_("the command asks for " + question.words + "; in another terminal: stile approve " +
        question.id + place_.selector);
}

void TerminalAsks::prompt() {
  const TerminalQuestion& question = waiting_.front().question;
  if (!is_terminal_free() || !command_->stop()) return ring(question);
  is_asking_ = true;
  // The command may have changed it just before it was stopped.
  if (!is_terminal_free()) {
    end_question();
    return ring(question);
  }
  line_.enter();
  typed_.clear();
  put(plain_screen() + "stile: the command asks for " + question.words +
      "\nstile: it is stopped until you answer; allow it? once, run (for this run), always, no,"
      " never (ask no more) [no]: ");
}

void TerminalAsks::end_question() {
  line_.leave();
  command_->resume();
  is_asking_ = false;
}

void TerminalAsks::drop_late() {
  while (!waiting_.empty() && Clock::now() >= waiting_.front().until) {
    if (is_asking_) {
      put("\nstile: no answer, so the request was refused; to allow the next one: stile approve " +
          waiting_.front().question.id + place_.selector + '\n');
      end_question();
    }
    waiting_.pop_front();
    has_rung_ = has_told_ = false;
  }
}

void TerminalAsks::take_answer(const std::string& line) {
  const TerminalQuestion question = std::move(waiting_.front().question);
  waiting_.pop_front();
  has_rung_ = has_told_ = false;
  // Whole words: "no" with a letter too many or too few must not become another answer.
  const char typed = line == "once" || line == "run" || line == "always" ? line.front() : 'n';
  if (typed == 'n') on_refusal_(question.id);
  const auto answer = answers_.ask(answer_to(question.id, typed));
  if (!answer || !control::is_ok(*answer)) {
    put("stile: the answer was not taken" + (answer ? ": " + printable(*answer) : std::string{}) +
        '\n');
    return end_question();
  }
  const char* how = typed == 'o'   ? "allowed once: "
                    : typed == 'n' ? "refused: "
                                   : "allowed for this run: ";
  put("stile: " + (how + question.words) + '\n');
  if (line == "never") {
    is_enough_ = true;
    for (const auto& one : std::exchange(waiting_, {})) {
      static_cast<void>(answers_.ask(answer_to(one.question.id, 'n')));
    }
    put("stile: from now on, what no flag allows is refused without a question\n");
  } else if (typed == 'a' && !question.pattern.empty()) {
    put("stile: next time: stile run --allow " + question.pattern + '\n');
  } else if (typed == 'a') {
    put("stile: to allow it permanently, add a request entry to a card\n");
  }
  end_question();
}

}  // namespace stile::run
