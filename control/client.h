// ControlClient: a blocking connection to the control socket, for `stile`, `stile run` and
// `stile-netns`. Handles lines and timeouts; the caller handles their contents.
#pragma once

#include <boost/system/result.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace stile::control {

struct ClientError {
  enum class Kind : std::uint8_t {
    absent,     // no daemon listens there
    forbidden,  // no permission to connect
    broken,     // no answer, an incomplete answer, or a closed connection
  };
  Kind kind = Kind::broken;
  std::string message;  // "no daemon at PATH": for people
};
template <class T>
using ClientResult = boost::system::result<T, ClientError>;

class ControlClient {
 public:
  struct Bounds {
    std::chrono::milliseconds patience{5000};  // for connecting, for sending, and for one answer
    std::size_t max_line_bytes = std::size_t{1} << 20U;
  };
  // nullopt: no timeout.
  using Patience = std::optional<std::chrono::milliseconds>;

  [[nodiscard]] static ClientResult<ControlClient> connect(const std::string& path,
                                                           const Bounds& bounds);

  // `line` has no newline. A descriptor is sent as SCM_RIGHTS.
  [[nodiscard]] ClientResult<void> send(std::string_view line, int descriptor = -1);
  // The next line without its newline; nullopt: the daemon closed the connection, or a signal
  // arrived.
  [[nodiscard]] ClientResult<std::optional<std::string>> next_line(Patience patience);
  // Sends one request and returns the answer line; signals do not interrupt it.
  [[nodiscard]] ClientResult<std::string> ask(std::string_view line, int descriptor = -1);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  // Called from another thread: next_line() then returns what has arrived, and then the end.
  void shut_down() const noexcept;

 private:
  enum class Received : std::uint8_t { bytes, end, signal };
  ControlClient(UniqueFd fd, std::string path, const Bounds& bounds)
      : fd_{std::move(fd)}, path_{std::move(path)}, bounds_{bounds} {}
  [[nodiscard]] std::optional<std::string> take_line();
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;
  [[nodiscard]] ClientResult<Received> receive(Deadline deadline);
  [[nodiscard]] ClientError broken(const std::string& what) const;

  UniqueFd fd_;
  std::string path_;
  Bounds bounds_;
  std::string buffer_;
  std::size_t begin_ = 0;     // of the unread part
  std::size_t searched_ = 0;  // no newline before this position
};

// Whether a line says {"ok":true,…}. The daemon writes that member first, without blanks.
[[nodiscard]] bool is_ok(std::string_view answer) noexcept;

}  // namespace stile::control
