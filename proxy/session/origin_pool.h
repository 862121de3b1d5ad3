// OriginPool: idle connections to origins, kept for later requests of the same agent to the same
// host and port.
//
// A kept connection is in the worker's list of open connections, so anything that revokes, drains
// or ends connections closes it, too. It is closed as soon as the origin sends anything or hangs
// up.
#pragma once

#include <array>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/unordered_set.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "acl/address.h"
#include "proxy/net/stream.h"
#include "proxy/session/live.h"

namespace stile::session {

struct Context;
struct Request;

class OriginPool {
 public:
  // An agent at its limit keeps no more. A worker at its limit closes the oldest. 64 connections of
  // clients that request 100 hosts in turn need 6,400. A process that may have few descriptors
  // keeps at most an eighth of them in a worker, and a quarter of those for an agent.
  static constexpr std::size_t most = 8192;
  static constexpr std::chrono::milliseconds idle_time{30000};

  explicit OriginPool(Context& context) noexcept;
  ~OriginPool();
  OriginPool(const OriginPool&) = delete;
  OriginPool& operator=(const OriginPool&) = delete;

  // `request` is the allowed request that the connection was used for.
  void keep(const Peer& peer, const Request& request, net::Stream origin);

  struct Taken {
    net::Stream stream;  // empty: there is none
    acl::Address address;
    std::uint64_t trust = 0;
  };
  // For a request that was allowed. The address must still be checked.
  [[nodiscard]] Taken take(const Peer& peer, const Request& request);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  // The owner of a connection, and its destination. Two agents never share one: the account belongs
  // to one lifetime of an agent. An ordered list serves many sources under one account; for those
  // the logged name and the source are part of the key as well.
  struct Key {
    const acl::Account* account;
    const metrics::Tally* name;
    acl::Address source;
    std::string_view host;  // canonical; empty for an address
    acl::Address literal;
    std::uint16_t port;
    bool is_inside;       // TLS, and Stile is its client
    std::uint64_t trust;  // that it was verified under
    friend bool operator==(const Key&, const Key&) = default;
  };
  [[nodiscard]] static Key key_of(const Peer& peer, const Request& request,
                                  std::uint64_t trust) noexcept;
  [[nodiscard]] static std::size_t hash_of(const Key& key) noexcept;

  class Kept;
  struct Hash {
    std::size_t operator()(const Kept& kept) const noexcept;
  };
  struct Same {
    bool operator()(const Kept& a, const Kept& b) const noexcept;
    bool operator()(const Key& a, const Kept& b) const noexcept;
  };
  using Hook = boost::intrusive::unordered_set_base_hook<
      boost::intrusive::link_mode<boost::intrusive::normal_link>>;
  using Bucket = boost::intrusive::unordered_bucket<boost::intrusive::base_hook<Hook>>::type;
  struct OrderTag;
  using OrderHook =
      boost::intrusive::list_base_hook<boost::intrusive::tag<OrderTag>,
                                       boost::intrusive::link_mode<boost::intrusive::normal_link>>;
  void drop(Kept& kept) noexcept;

  // Agents choose the names, but the hash has a seed that they do not know.
  static constexpr std::size_t buckets = 2 * most;
  struct Tables;
  Tables& tables();

  Context& context_;
  std::size_t room_;                // of this process: `most`, or less
  std::unique_ptr<Tables> tables_;  // made when first used
  std::size_t size_ = 0;
};

}  // namespace stile::session
