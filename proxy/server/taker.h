// Taker: the process that takes over from this one.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <set>
#include <string>

#include "proxy/server/handover_link.h"
#include "proxy/session/frozen_tunnel.h"

namespace stile::server {

struct Taker final : session::TunnelSink {
  // The steps, in their order; before `gone` this process can go on as if nothing had happened.
  enum class Step : std::uint8_t { met, offered, freezing, frozen, committing, gone };

  Taker(boost::asio::io_context& context, UniqueFd socket, int taker_pid);

  // A tunnel waits while it is on its way, so only a few are at the same time.
  static constexpr std::uint64_t most_on_the_way = 64;
  [[nodiscard]] bool has_room() const noexcept override;
  [[nodiscard]] bool send(const session::FrozenTunnel& tunnel) override;

  HandoverLink link;
  boost::asio::posix::stream_descriptor events;  // of the same socket
  boost::asio::steady_timer deadline;
  int pid;
  int main_pid = pid;         // what systemd should watch for it
  bool is_successor = false;  // systemd has started it in a restart of the service
  Step step = Step::met;
  // Tunnels; workers send them, the main thread hears how many have arrived.
  std::atomic<std::uint64_t> sent{0}, taken{0};
  bool is_taking = false;         // tunnels
  std::uint64_t draws = 0;        // of budgets, not answered yet
  UniqueFd lines;                 // for audit lines, once it serves
  std::set<std::string> changed;  // agents whose policy is another one there
  bool all_changed = false;       // every agent's is
};

}  // namespace stile::server
