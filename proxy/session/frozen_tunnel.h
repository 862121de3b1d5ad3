// FrozenTunnel: everything about an open tunnel that another process needs to continue it, and its
// form as bytes. Pure, except that it owns descriptors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acl/hello.h"
#include "base/result.h"
#include "proxy/net/frozen_relay.h"
#include "proxy/session/hello_guard.h"

namespace stile::session {

struct FrozenTunnel {
  // The most that was read and not sent, or is held back; a tunnel with more waits until it has
  // sent some.
  static constexpr std::size_t max_unsent = 160 * 1024;

  std::string agent;     // its id
  std::string identity;  // its instance and sources, see identity_of
  std::string shown;     // the agent's name in the log
  acl::Address source;
  std::uint16_t port = 0;
  bool by_listener = false;  // the agent is known by its listener
  std::uint64_t conn = 0;
  struct Destination {
    acl::Address address;
    std::uint16_t port = 0;
  };
  std::optional<Destination> captured;
  std::string authority;  // canonical
  acl::Address origin;
  std::string grant;  // the id of the grant that its opening was charged to; "": none
  acl::Reason opened_despite = acl::Reason::none;
  acl::HelloFacts hello;
  SteadyTime begun;
  std::optional<FrozenGuard> guard;  // a second hello may still follow
  net::FrozenRelay relay;
};

// Two agents with the same id and another identity are different agents.
[[nodiscard]] std::string identity_of(const acl::AgentPolicy& agent);

// The bytes of a tunnel, without its descriptors.
[[nodiscard]] std::string pack(const FrozenTunnel& tunnel);
// The descriptors that belong to the bytes, in their order.
[[nodiscard]] std::vector<int> descriptors_of(const FrozenTunnel& tunnel);
// Strict: a value out of range, a byte too many, or other descriptors than the bytes call for are
// an error.
[[nodiscard]] Result<FrozenTunnel> unpack_tunnel(std::string_view bytes,
                                                 std::vector<UniqueFd> descriptors);

// Where frozen tunnels go.
class TunnelSink {
 public:
  // Whether send() would not have to wait.
  [[nodiscard]] virtual bool has_room() const noexcept = 0;
  // False: the other process is gone.
  [[nodiscard]] virtual bool send(const FrozenTunnel& tunnel) = 0;

 protected:
  ~TunnelSink() = default;
};

}  // namespace stile::session
