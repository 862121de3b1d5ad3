// ChannelPool: ways to the DNS servers over UDP, so that no source port serves for long.
//
// c-ares asks through one socket per server for as long as any query of the channel is under way.
// With a single channel, names that hang would keep the port of everybody's queries for a forger to
// find. So a channel gets a number of queries and is then left alone until it is idle: c-ares
// closes its sockets by that time, and the next query has a new port.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "proxy/dns/channel.h"

namespace stile::dns {

class ChannelPool {
 public:
  static constexpr std::size_t queries_per_port = 16;
  // 75 KB each. An agent with 64 names in flight cannot keep as many busy. Beyond, ports are used
  // on.
  static constexpr std::size_t max_channels = 256;

  static Result<std::unique_ptr<ChannelPool>> open(Loop& loop, const Channel::Options& options);

  // As Channel::query.
  void query(const std::string& name, Rtype type, std::uint16_t id, Channel::Callback done);
  [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }

 private:
  struct Member {
    std::size_t sent = 0;  // since it was idle
    std::size_t in_flight = 0;
    std::unique_ptr<Channel> channel;  // last: its end calls back for what is in flight
  };
  ChannelPool(Loop& loop, Channel::Options options) : loop_{loop}, options_{std::move(options)} {}
  [[nodiscard]] Result<Member*> add();
  [[nodiscard]] Member& pick();
  [[nodiscard]] Member* take_idle();

  Loop& loop_;
  Channel::Options options_;
  std::vector<std::unique_ptr<Member>> members_;
  Member* current_ = nullptr;
};

}  // namespace stile::dns
