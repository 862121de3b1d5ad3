// watch_asks: the terminal around AskScreen: raw mode, the alternate screen, keys and lines.
#include "cli/asks_watch.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/files.h"
#include "cli/ask_screen.h"
#include "control/follower.h"

namespace stile::cli {
namespace {

volatile std::sig_atomic_t must_end_watch = 0;
void end_watch(int) { must_end_watch = 1; }

// The terminal as it was before, however this ends.
class RawScreen {
 public:
  RawScreen() {
    ::tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    put("\x1b[?1049h\x1b[?25l");
  }
  ~RawScreen() {
    put("\x1b[?25h\x1b[?1049l");
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  RawScreen(const RawScreen&) = delete;
  RawScreen& operator=(const RawScreen&) = delete;

  static void put(std::string_view text) { static_cast<void>(write_all(STDOUT_FILENO, text)); }

 private:
  termios before_{};
};

void draw_screen(const AskScreen& screen) {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    size.ws_col = 80;
    size.ws_row = 24;
  }
  std::string out = "\x1b[H";
  for (const auto& line : screen.draw(size.ws_col, size.ws_row, Terminal::of_output())) {
    if (out.size() > 3) out += "\r\n";
    out += "\x1b[2K" + line;
  }
  out += "\x1b[J";
  RawScreen::put(out);
}

class Watch {
 public:
  Watch(control::ControlClient client, control::ControlClient follower, const std::string& agent)
      : client_{std::move(client)}, lines_{std::move(follower)}, screen_{agent} {}

  void take_list(const Json& asks) { screen_.take_list(asks, AskScreen::Time{}); }

  // False: the daemon has gone.
  bool run() {
    const RawScreen raw;
    look_at_agent();
    draw_screen(screen_);
    while (must_end_watch == 0) {
      std::array<pollfd, 2> ready{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{lines_.fd(), POLLIN, 0}};
      const int found = ::poll(ready.data(), ready.size(), typed_.empty() ? 1000 : 50);
      if (found < 0 && errno != EINTR) return true;
      if (ready[1].revents != 0 && !take_lines()) return false;
      if ((ready[0].revents & POLLIN) != 0 && !read_keys()) return true;
      if (!press_keys(ready[0].revents == 0)) return true;
      look_at_agent();
      draw_screen(screen_);
    }
    return true;
  }

 private:
  bool take_lines() {
    const auto taken = lines_.take();
    for (const auto& line : taken.lines) {
      screen_.take_event(Json::parse(line), std::chrono::steady_clock::now());
    }
    return !taken.is_over;
  }

  bool read_keys() {
    std::array<char, 64> bytes;
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got > 0) typed_.append(bytes.data(), static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && errno == EINTR);
  }

  bool press_keys(bool is_all) {
    while (const auto key = take_key(typed_, is_all)) {
      auto step = screen_.press(*key, std::chrono::steady_clock::now());
      if (step.ends) return false;
      if (!step.request) continue;
      const auto answer = send_request(client_, *step.request);
      screen_.take_result(*step.request, answer ? std::string{} : answer.error().message);
    }
    return true;
  }

  // What else the agent of the selected ask did; asked once for each ask that is selected.
  void look_at_agent() {
    const std::string id = screen_.selected_id();
    if (id.empty() || id == looked_at_) return;
    looked_at_ = id;
    const auto about =
        send_request(client_, {{"action", "agent"}, {"agent", screen_.selected_agent()}});
    if (about) screen_.take_about(about->json);
  }

  control::ControlClient client_;
  control::Follower lines_;
  AskScreen screen_;
  std::string typed_, looked_at_;
};

}  // namespace

int watch_asks(const ControlOptions& options, const std::string& agent) {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0) {
    return report({failed, "no-terminal", "--watch needs a terminal", "stile asks"}, options);
  }
  auto client = connect(options, Access::change);
  if (!client) return report(client.error(), options);
  auto follower = connect(options, Access::change);
  if (!follower) return report(follower.error(), options);
  const auto first = send_request(*follower, {{"action", "asks"}, {"follow", true}});
  if (!first) return report(first.error(), options);
  struct sigaction ending {};
  ending.sa_handler = end_watch;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &ending, nullptr);
  bool is_there = true;
  {
    Watch watch{std::move(*client), std::move(*follower), agent};
    watch.take_list(list_of(first->json, "asks"));
    is_there = watch.run();
  }
  if (is_there) return fine;
  return report(
      {no_daemon, "no-daemon", "the connection to the daemon has ended", "systemctl status stiled"},
      options);
}

}  // namespace stile::cli
