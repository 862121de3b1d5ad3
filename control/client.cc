// ControlClient: connects, sends lines and waits for lines, each with a timeout.
#include "control/client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/local_socket.h"
#include "base/system_error.h"

namespace stile::control {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

timeval timeval_of(milliseconds time) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {whole.count(), std::chrono::microseconds{time - whole}.count()};
}

// For poll(2): the time left until then, rounded up; -1: no limit.
int poll_time(const std::optional<Clock::time_point>& deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<milliseconds>(*deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<milliseconds::rep>(left, 0, 86'400'000));
}

ClientError cannot_connect(const std::string& path, int error) {
  const auto at = " the daemon at " + path;
  if (error == ENOENT || error == ECONNREFUSED || error == ENOTDIR) {
    return {ClientError::Kind::absent, "no daemon at " + path};
  }
  if (error == EACCES || error == EPERM) {
    return {ClientError::Kind::forbidden, "no permission to connect to" + at};
  }
  if (error == EAGAIN) {
    return {ClientError::Kind::broken, "the daemon at " + path + " takes no connection"};
  }
  return {ClientError::Kind::broken, "cannot reach" + at + ": " + error_text(error)};
}

}  // namespace

ClientResult<ControlClient> ControlClient::connect(const std::string& path, const Bounds& bounds) {
  UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!fd) return cannot_connect(path, errno);
  const timeval patience = timeval_of(bounds.patience);  // connect(2) too: the backlog may be full
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  while (!connect_unix(fd.get(), path)) {
    if (errno != EINTR) return cannot_connect(path, errno);
  }
  return ControlClient{std::move(fd), path, bounds};
}

ClientError ControlClient::broken(const std::string& what) const {
  return {ClientError::Kind::broken, "the daemon at " + path_ + ' ' + what};
}

ClientResult<void> ControlClient::send(std::string_view line, int descriptor) {
  const std::string text = std::string{line} + '\n';
  std::string_view unsent = text;
  std::span<const int> descriptors{&descriptor, descriptor >= 0 ? 1U : 0U};
  while (!unsent.empty()) {
    const auto sent = send_message(fd_.get(), unsent, std::exchange(descriptors, {}));
    // The daemon may have sent a reason before it closed. That is read next: it says more than
    // "broken pipe".
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) break;
    if (sent < 0) return broken("does not read the request");
    unsent.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

std::optional<std::string> ControlClient::take_line() {
  const auto end = buffer_.find('\n', searched_);
  if (end == std::string::npos) {
    buffer_.erase(0, std::exchange(begin_, 0));
    searched_ = buffer_.size();
    return std::nullopt;
  }
  std::string line = buffer_.substr(begin_, end - begin_);
  begin_ = searched_ = end + 1;
  return line;
}

ClientResult<ControlClient::Received> ControlClient::receive(Deadline deadline) {
  pollfd ready{fd_.get(), POLLIN, 0};
  const int count = ::poll(&ready, 1, poll_time(deadline));
  if (count < 0 && errno == EINTR) return Received::signal;
  if (count == 0) return broken("took the request but has not answered in time");
  std::array<char, 65536> bytes;
  const auto got = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
  if (got < 0 && errno == EINTR) return Received::signal;
  if (got <= 0) return Received::end;
  if (buffer_.size() > bounds_.max_line_bytes) return broken("gave an answer without an end");
  buffer_.append(bytes.data(), static_cast<std::size_t>(got));
  return Received::bytes;
}

ClientResult<std::optional<std::string>> ControlClient::next_line(Patience patience) {
  const auto deadline = patience ? Deadline{Clock::now() + *patience} : std::nullopt;
  while (true) {
    if (auto line = take_line()) return line;
    const auto received = receive(deadline);
    if (!received) return received.error();
    if (*received != Received::bytes) return std::optional<std::string>{};
  }
}

ClientResult<std::string> ControlClient::ask(std::string_view line, int descriptor) {
  if (auto sent = send(line, descriptor); !sent) return sent.error();
  const Deadline deadline{Clock::now() + bounds_.patience};
  while (true) {
    if (auto answer = take_line()) return std::move(*answer);
    const auto received = receive(deadline);
    if (!received) return received.error();
    if (*received == Received::end) return broken("hung up without an answer");
  }
}

void ControlClient::shut_down() const noexcept { ::shutdown(fd_.get(), SHUT_RDWR); }

bool is_ok(std::string_view answer) noexcept { return answer.starts_with(R"({"ok":true)"); }

}  // namespace stile::control
