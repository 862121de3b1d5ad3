// ChannelPool: channels to the DNS servers over UDP, so that no source port is used for long.
#include "proxy/dns/channel_pool.h"

#include <utility>

#include "proxy/base/log.h"

namespace stile::dns {
namespace {

// The number of idle channels to keep; more were needed in a flood.
constexpr std::size_t kept_channels = 8;

log::Throttle not_opened;

}  // namespace

Result<std::unique_ptr<ChannelPool>> ChannelPool::open(Loop& loop,
                                                       const DnsChannel::Options& options) {
  std::unique_ptr<ChannelPool> pool{new ChannelPool{loop, options}};
  const auto first = pool->add();
  if (!first) return first.error();
  pool->current_ = *first;
  return pool;
}

Result<ChannelPool::Member*> ChannelPool::add() {
  auto channel = DnsChannel::open(loop_, options_);
  if (!channel) return channel.error();
  auto member = std::make_unique<Member>();
  member->channel = std::move(*channel);
  members_.push_back(std::move(member));
  return members_.back().get();
}

// Returns an idle one, if any; if there are many, most are closed.
ChannelPool::Member* ChannelPool::take_idle() {
  Member* found = nullptr;
  std::erase_if(members_, [&](const std::unique_ptr<Member>& member) {
    if (member->in_flight > 0) return false;
    if (found != nullptr) return members_.size() > kept_channels && member.get() != current_;
    found = member.get();
    return false;
  });
  return found;
}

ChannelPool::Member& ChannelPool::pick() {
  if (current_->in_flight == 0) current_->sent = 0;
  if (current_->sent < queries_per_port) return *current_;
  if (Member* idle = take_idle(); idle != nullptr) {
    idle->sent = 0;
    current_ = idle;
  } else if (members_.size() < max_channels) {
    if (const auto added = add()) {
      current_ = *added;
    } else {
      not_opened.warning("DNS: the source port is used on: ", added.error().message);
    }
  }
  return *current_;
}

void ChannelPool::query(const std::string& name, Rtype type, std::uint16_t id,
                        DnsChannel::Callback done) {
  Member& member = pick();
  ++member.sent;
  ++member.in_flight;
  // Decremented after the call: until it returns, c-ares keeps the socket.
  struct CountOff {
    Member& member;
    ~CountOff() { --member.in_flight; }
  };
  member.channel->query(name, type, id, [&member, done = std::move(done)](auto packet) {
    const CountOff after{member};
    done(packet);
  });
}

}  // namespace stile::dns
