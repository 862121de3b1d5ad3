// loadgen: loads a proxy in one way and prints what came of it as one JSON line.
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <string_view>

#include "bench/common/flags.h"
#include "bench/common/socket.h"
#include "bench/load/scenarios.h"

namespace {

struct Command {
  std::string_view name;
  int (*run)(const stile::bench::Flags&);
};

}  // namespace

int main(int argc, char** argv) {
  using namespace stile::bench;
  constexpr Command commands[] = {{"origin", run_origin},  {"connect", run_connect},
                                  {"bulk", run_bulk},      {"get", run_get},
                                  {"hold", run_hold},      {"tls-origin", run_tls_origin},
                                  {"tls-get", run_tls_get}};
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const Command& command : commands) {
    if (command.name != name) continue;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);                // nothing of a run outlives its runner
    static_cast<void>(std::signal(SIGPIPE, SIG_IGN));  // OpenSSL writes without MSG_NOSIGNAL
    raise_descriptor_limit();
    return command.run(Flags(
        argc - 2, argv + 2,
        {"proxy", "direct",  "target",  "hello", "sources", "refused",     "pids",   "concurrency",
         "count", "warm-up", "seconds", "up",    "bytes",   "origin-form", "hosts",  "tls",
         "http",  "listen",  "cert",    "key",   "trust",   "kept",        "resume", "hold"}));
  }
  static_cast<void>(std::fputs(
      "usage: loadgen origin|connect|bulk|get|hold|tls-origin|tls-get [--name value]...\n",
      stderr));
  return 2;
}
