// Client: a blocking connection to the control socket, for the programs beside the daemon: `stile`,
// `stile run` and `stile-netns`. Knows lines and time limits; what is in the lines is the caller's.
#pragma once

#include <boost/system/result.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/unique_fd.h"

namespace stile::control {

struct ClientError {
  enum class Kind : std::uint8_t {
    absent,     // nobody listens there
    forbidden,  // the caller may not connect
    broken,     // no answer, no end of it, or no connection any more
  };
  Kind kind = Kind::broken;
  std::string message;  // "no daemon at PATH": for people
};
template <class T>
using ClientResult = boost::system::result<T, ClientError>;

class Client {
 public:
  struct Bounds {
    std::chrono::milliseconds patience{5000};  // for connecting, for sending, for one answer
    std::size_t max_line_bytes = std::size_t{1} << 20U;
  };
  // nullopt: for ever.
  using Patience = std::optional<std::chrono::milliseconds>;

  [[nodiscard]] static ClientResult<Client> connect(const std::string& path, const Bounds& bounds);

  // `line` is without its newline. A descriptor goes along as SCM_RIGHTS.
  [[nodiscard]] ClientResult<void> send(std::string_view line, int descriptor = -1);
  // The next line without its newline; nullopt: the daemon has closed, or a signal came.
  [[nodiscard]] ClientResult<std::optional<std::string>> next_line(Patience patience);
  // One request and the line that answers it; signals are no end.
  [[nodiscard]] ClientResult<std::string> ask(std::string_view line, int descriptor = -1);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  // From another thread: next_line() then gives what has arrived, and the end after it.
  void shut_down() const noexcept;

 private:
  enum class Received : std::uint8_t { bytes, end, signal };
  Client(UniqueFd fd, std::string path, const Bounds& bounds)
      : fd_{std::move(fd)}, path_{std::move(path)}, bounds_{bounds} {}
  [[nodiscard]] std::optional<std::string> take_line();
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;
  [[nodiscard]] ClientResult<Received> receive(Deadline deadline);
  [[nodiscard]] ClientError broken(const std::string& what) const;

  UniqueFd fd_;
  std::string path_;
  Bounds bounds_;
  std::string buffer_;
  std::size_t begin_ = 0;     // of what was not taken yet
  std::size_t searched_ = 0;  // no newline between the two
};

// Whether a line says {"ok":true,…}. The daemon writes that member first, without blanks.
[[nodiscard]] bool is_ok(std::string_view answer) noexcept;

}  // namespace stile::control
