// worker_inside: the first process in a worker. It starts the worker's command and its tasks.
#pragma once

#include <csignal>
#include <string>
#include <vector>

namespace stile::netns {

struct InsideWorker {
  std::vector<std::string> command, task;  // what the two kinds of orders start
  std::vector<std::string> environment;
  sigset_t mask;  // of the processes that it starts
};

// Runs after the process has become the agent; standard input is the channel to the keeper. Ends
// when the keeper closes it, and the kernel then ends all other processes inside.
[[nodiscard]] int serve_inside(const InsideWorker& worker);

}  // namespace stile::netns
