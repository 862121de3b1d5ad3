// TaskChannel: orders from a worker's keeper to the first process inside, and its reports.
#pragma once

#include <cstdint>
#include <optional>

#include "base/unique_fd.h"

namespace stile::netns {

struct Order {
  enum class Kind : std::uint32_t { start_command, start_task, signal };
  Kind kind = Kind::signal;
  std::int32_t signal = 0;
  std::uint64_t run = 0;
};

struct TaskReport {
  enum class Kind : std::uint32_t { ready, started, ended };
  Kind kind = Kind::ended;
  std::int32_t exit_status = 0;
  std::uint64_t run = 0;
};

// Standard input and output of a process to start.
struct Streams {
  UniqueFd input, output;
};

[[nodiscard]] bool send_order(int channel, const Order& order, const Streams* streams);
// nullopt: the other side has closed.
[[nodiscard]] std::optional<Order> receive_order(int channel, Streams& streams);
[[nodiscard]] bool send_report(int channel, const TaskReport& report);
[[nodiscard]] std::optional<TaskReport> receive_report(int channel);

}  // namespace stile::netns
