// ChannelPool: channels to the DNS servers over UDP, so that no source port is used for long.
//
// c-ares uses one socket per server for as long as any query of the channel is pending. With a
// single channel, names that hang would keep one port in use for all queries, and a forger could
// find it. So a channel gets a number of queries and then no more until it is idle: by then c-ares
// has closed its sockets, and the next query has a new port.
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
  // 75 KB each. An agent with 64 names in flight cannot keep as many busy. Beyond this number,
  // ports are reused.
  static constexpr std::size_t max_channels = 256;

  static Result<std::unique_ptr<ChannelPool>> open(Loop& loop, const DnsChannel::Options& options);

  // Like Channel::query.
  void query(const std::string& name, Rtype type, std::uint16_t id, DnsChannel::Callback done);
  [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }

 private:
  struct Member {
    std::size_t sent = 0;  // since it was idle
    std::size_t in_flight = 0;
    std::unique_ptr<DnsChannel> channel;  // last: its destructor calls back for queries in flight
  };
  ChannelPool(Loop& loop, DnsChannel::Options options)
      : loop_{loop}, options_{std::move(options)} {}
  [[nodiscard]] Result<Member*> add();
  [[nodiscard]] Member& pick();
  [[nodiscard]] Member* take_idle();

  Loop& loop_;
  DnsChannel::Options options_;
  std::vector<std::unique_ptr<Member>> members_;
  Member* current_ = nullptr;
};

}  // namespace stile::dns
