// TaskChannel: small fixed messages over a pair of sockets that keep their borders.
#include "netns/task_channel.h"

#include <span>
#include <string_view>
#include <vector>

#include "base/local_socket.h"

namespace stile::netns {

namespace {

template <class T>
std::string_view bytes_of(const T& message) {
  return {reinterpret_cast<const char*>(&message), sizeof message};
}

template <class T>
std::span<char> room_of(T& message) {
  return {reinterpret_cast<char*>(&message), sizeof message};
}

}  // namespace

bool send_order(int channel, const Order& order, const Streams* streams) {
  std::vector<int> descriptors;
  if (streams != nullptr) descriptors = {streams->input.get(), streams->output.get()};
  return send_message(channel, bytes_of(order), descriptors) == ssize_t{sizeof order};
}

std::optional<Order> receive_order(int channel, Streams& streams) {
  Order order;
  auto received = receive_message(channel, room_of(order), 2);
  if (received.size != ssize_t{sizeof order}) return std::nullopt;
  auto& descriptors = received.descriptors;
  streams = {};
  if (descriptors.size() == 2) streams = {std::move(descriptors[0]), std::move(descriptors[1])};
  return order;
}

bool send_report(int channel, const TaskReport& report) {
  return send_message(channel, bytes_of(report), {}) == ssize_t{sizeof report};
}

std::optional<TaskReport> receive_report(int channel) {
  TaskReport report;
  const auto size = receive_message(channel, room_of(report), 0).size;
  return size == ssize_t{sizeof report} ? std::optional{report} : std::nullopt;
}

}  // namespace stile::netns
