// Upgrade: the running daemon gets the program and the config that are on disk.
#include "proxy/server/upgrade.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>

#include "base/json_value.h"
#include "base/system_error.h"
#include "base/unique_fd.h"
#include "control/client.h"
#include "proxy/base/log.h"

namespace stile::server {
namespace {

// It may have to read large lists.
constexpr control::ControlClient::Bounds patient{std::chrono::seconds{60}, std::size_t{8} << 20U};

int fail(const std::string& why) {
  log::errors(why);
  return 1;
}

int in_background(const RunDaemon& take_over) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(system_error("pipe").message);
  UniqueFd mine{ends[0]};
  UniqueFd its{ends[1]};
  const pid_t between = ::fork();
  if (between < 0) return fail(system_error("fork").message);
  if (between == 0) {
    mine.reset();
    // A child of the init process, like every main process of a service.
    const pid_t daemon = ::fork();
    if (daemon != 0) ::_exit(daemon < 0 ? 1 : 0);
    return take_over([&its] {
      static_cast<void>(!::write(its.get(), "\n", 1));
      its.reset();
    });
  }
  its.reset();
  ::waitpid(between, nullptr, 0);
  char byte = 0;
  ssize_t got = 0;
  while ((got = ::read(mine.get(), &byte, 1)) < 0 && errno == EINTR) {
  }
  return got == 1 ? 0 : 1;  // otherwise the process has said why
}

}  // namespace

std::string program_identity() {
  struct stat file {};
  if (::stat("/proc/self/exe", &file) != 0) return {};
  return std::to_string(file.st_dev) + '-' + std::to_string(file.st_ino) + '-' +
         std::to_string(file.st_mtim.tv_sec) + '.' + std::to_string(file.st_mtim.tv_nsec);
}

std::string service_run() {
  const char* id = std::getenv("INVOCATION_ID");
  return std::getenv("NOTIFY_SOCKET") != nullptr && id != nullptr ? id : "";
}

int reload(const std::string& control_path, const RunDaemon& take_over) {
  auto client = control::ControlClient::connect(control_path, patient);
  if (!client) return fail(client.error().message);
  const auto status = client->ask(R"({"action":"status"})");
  if (!status) return fail(status.error().message);
  if (text_of(Json::parse(*status), "program") != program_identity()) {
    client = control::ClientError{};  // closed: it belongs to the process before
    return in_background(take_over);
  }
  const auto answer = client->ask(R"({"action":"reload"})");
  if (!answer) return fail(answer.error().message);
  if (control::is_ok(*answer)) return 0;
  const Json parsed = Json::parse(*answer);
  const Json& error = object_of(parsed, "error");
  const std::string hint = text_of(error, "hint");
  return fail(text_of(error, "message") + (hint.empty() ? "" : "\n  next: " + hint));
}

}  // namespace stile::server
