// Creates or deletes an agent and kills itself before the given step, as an operator's kill -9
// would: netns_step_killer create|delete ID STEP. Exits with 0 if there is no such step any more.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "netns/create.h"
#include "netns/remove.h"

int main(int argc, char** argv) {
  using namespace stile;
  if (argc != 4) return 2;
  const std::string what = argv[1];
  const std::string id = argv[2];
  const long fatal = std::strtol(argv[3], nullptr, 10);
  long count = 0;
  const auto before = [&](netns::Step) {
    if (count++ == fatal) std::raise(SIGKILL);
  };
  auto setup = netns::read_setup({});
  if (!setup) return 1;
  auto host = netns::FenceHost::open(*setup);
  if (!host) return 1;
  const auto fail = [](const Error& error) {
    std::fprintf(stderr, "%s\n", error.message.c_str());
    return 1;
  };
  if (what == "create") {
    const auto created = netns::create(*host, {id, {}}, before);
    return created ? 0 : fail(created.error());
  }
  const auto removed = netns::remove(*host, id, false, {}, before);
  return removed ? 0 : fail(removed.error());
}
