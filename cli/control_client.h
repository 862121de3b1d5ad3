// Where the daemon listens, and what to do if it cannot be reached.
#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <vector>

#include "control/client.h"

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

// A failure to talk to the daemon, with what to do about it.
[[nodiscard]] Failure failure_of(const control::ClientError& error, const std::string& path);

// The first of the paths where somebody listens.
[[nodiscard]] Outcome<control::Client> connect(const std::vector<std::string>& paths);

}  // namespace stile::cli
