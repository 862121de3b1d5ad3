// ControlClient: one connection to the daemon's control socket.
#pragma once

#include <boost/system/result.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stile::cli {

// What went wrong, and what to type next.
struct Failure {
  int status = 1;       // exit status
  std::string code;     // of the daemon, or "no-daemon", "no-permission", "no-answer"
  std::string message;  // one sentence
  std::string advice;   // the next command; may be empty
};
template <class T>
using Outcome = boost::system::result<T, Failure>;

// Where the daemon listens: `named` if it is not empty, else $STILE_SOCKET, else what the config in
// use says, else where a daemon without a config listens.
[[nodiscard]] std::vector<std::string> control_sockets(const std::string& named);

class ControlClient {
 public:
  // The first of the paths where somebody listens.
  static Outcome<ControlClient> connect(const std::vector<std::string>& paths);
  ControlClient(ControlClient&& other) noexcept;
  ControlClient& operator=(ControlClient&&) = delete;
  ~ControlClient();

  // `line` is without its newline. A daemon that does not read is a failure after a minute.
  [[nodiscard]] Outcome<void> send(std::string_view line);
  // The next line without its newline; nullopt: the daemon has closed. With a `patience` of 0 there
  // is no limit: for events that may come or not. A signal ends the wait as if it were the end.
  [[nodiscard]] Outcome<std::optional<std::string>> next_line(int patience_seconds);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  ControlClient(int fd, std::string path) : fd_{fd}, path_{std::move(path)} {}

  int fd_;
  std::string path_;
  std::string buffer_;
  std::size_t searched_ = 0;  // no newline before this place
};

}  // namespace stile::cli
