// FrozenTunnel: its form as bytes.
#include "proxy/session/frozen_tunnel.h"

#include <array>
#include <utility>

#include "base/pack.h"

namespace stile::session {
namespace {

constexpr std::size_t max_name = 256;       // an agent's id, a grant's
constexpr std::size_t max_authority = 512;  // 253 bytes of a name, a port
constexpr std::size_t max_identity = 16 << 10;
constexpr std::uint64_t max_pipe = 16 << 20;
constexpr std::uint64_t max_count = std::uint64_t{1} << 62;
constexpr std::uint8_t last_state = static_cast<std::uint8_t>(acl::HelloFacts::State::read);

// steady_clock is CLOCK_MONOTONIC: the same in all processes since the host has booted.
std::uint64_t nanoseconds(SteadyTime time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

void put(Packer& out, const acl::Address& address) {
  out.flag(address.is_v4()).number(address.high()).number(address.low());
}

void put(Packer& out, const net::FrozenDirection& way) {
  out.number(way.bytes).number(std::uint64_t{way.debt}).text(way.unsent);
  out.number(std::uint64_t{way.pipe.bytes});
  out.flag(way.is_over_budget).flag(way.saw_end).flag(way.sent_end);
}

acl::Address take_address(Unpacker& in) {
  const bool is_v4 = in.flag();
  const auto high = in.number<std::uint64_t>();
  const auto low = in.number<std::uint64_t>();
  if (is_v4) {
    if (high != 0 || low > UINT32_MAX) in.fail();
    return acl::Address::v4(static_cast<std::uint32_t>(low));
  }
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(high >> (56 - 8 * i));
    bytes[8 + i] = static_cast<std::uint8_t>(low >> (56 - 8 * i));
  }
  return acl::Address::v6(bytes);
}

std::uint64_t take_count(Unpacker& in, std::uint64_t most) {
  const auto value = in.number<std::uint64_t>();
  if (value > most) in.fail();
  return value;
}

SteadyTime take_time(Unpacker& in) {
  return SteadyTime{std::chrono::nanoseconds{take_count(in, max_count)}};
}

void take_direction(Unpacker& in, net::FrozenDirection& way) {
  way.bytes = take_count(in, max_count);
  way.debt = take_count(in, FrozenTunnel::max_unsent);
  way.unsent = in.text(FrozenTunnel::max_unsent);
  way.pipe.bytes = take_count(in, max_pipe);
  way.is_over_budget = in.flag();
  way.saw_end = in.flag();
  way.sent_end = in.flag();
  // After the end was passed on, nothing is left to send.
  if (way.sent_end && (!way.saw_end || !way.unsent.empty() || way.pipe.bytes > 0)) in.fail();
}

void put(Packer& out, const FrozenGuard& guard) {
  out.text(guard.held).text(guard.flight);
  out.number(guard.header_seen).number(guard.length).number(guard.body_left);
}

FrozenGuard take_guard(Unpacker& in) {
  FrozenGuard guard;
  guard.held = in.text(FrozenTunnel::max_unsent);
  guard.flight = in.text(FrozenTunnel::max_unsent);
  guard.header_seen = in.number<std::uint8_t>();
  guard.length = in.number<std::uint16_t>();
  guard.body_left = in.number<std::uint16_t>();
  if (!guard.is_possible()) in.fail();
  return guard;
}

acl::HelloFacts take_hello(Unpacker& in) {
  acl::HelloFacts hello;
  const auto state = in.number<std::uint8_t>();
  if (state > last_state) in.fail();
  hello.state = static_cast<acl::HelloFacts::State>(state);
  hello.has_sni = in.flag();
  hello.names_host = in.flag();
  hello.has_ech = in.flag();
  return hello;
}

}  // namespace

std::string identity_of(const acl::AgentPolicy& agent) {
  std::string text = agent.instance;
  for (const auto& prefix : agent.sources) text.append(" ").append(prefix.text());
  return text;
}

std::string pack(const FrozenTunnel& tunnel) {
  Packer out;
  out.text(tunnel.agent).text(tunnel.identity).text(tunnel.shown);
  put(out, tunnel.source);
  out.number(tunnel.port).flag(tunnel.by_listener).number(tunnel.conn);
  out.flag(tunnel.captured.has_value());
  if (tunnel.captured) {
    put(out, tunnel.captured->address);
    out.number(tunnel.captured->port);
  }
  out.text(tunnel.authority);
  put(out, tunnel.origin);
  out.text(tunnel.grant).text(acl::text(tunnel.opened_despite));
  out.number(static_cast<std::uint8_t>(tunnel.hello.state));
  out.flag(tunnel.hello.has_sni).flag(tunnel.hello.names_host).flag(tunnel.hello.has_ech);
  out.number(nanoseconds(tunnel.begun)).number(nanoseconds(tunnel.relay.last_byte));
  out.flag(tunnel.guard.has_value());
  if (tunnel.guard) put(out, *tunnel.guard);
  put(out, tunnel.relay.up);
  put(out, tunnel.relay.down);
  return out.take();
}

std::vector<int> descriptors_of(const FrozenTunnel& tunnel) {
  const net::FrozenRelay& relay = tunnel.relay;
  std::vector<int> all{relay.client.get(), relay.origin.get()};
  for (const net::FrozenDirection* way : {&relay.up, &relay.down}) {
    if (way->pipe.bytes == 0) continue;
    all.push_back(way->pipe.read_end.get());
    all.push_back(way->pipe.write_end.get());
  }
  return all;
}

Result<FrozenTunnel> unpack_tunnel(std::string_view bytes, std::vector<UniqueFd> descriptors) {
  Unpacker in{bytes};
  FrozenTunnel tunnel;
  tunnel.agent = in.text(max_name);
  tunnel.identity = in.text(max_identity);
  tunnel.shown = in.text(max_name);
  tunnel.source = take_address(in);
  tunnel.port = in.number<std::uint16_t>();
  tunnel.by_listener = in.flag();
  tunnel.conn = in.number<std::uint64_t>();
  if (in.flag()) {
    const auto address = take_address(in);
    tunnel.captured = {address, in.number<std::uint16_t>()};
  }
  tunnel.authority = in.text(max_authority);
  tunnel.origin = take_address(in);
  tunnel.grant = in.text(max_name);
  const auto reason = acl::reason_named(in.text(max_name));
  if (!reason) in.fail();
  tunnel.opened_despite = reason.value_or(acl::Reason::none);
  tunnel.hello = take_hello(in);
  tunnel.begun = take_time(in);
  net::FrozenRelay& relay = tunnel.relay;
  relay.last_byte = take_time(in);
  if (in.flag()) tunnel.guard = take_guard(in);
  take_direction(in, relay.up);
  take_direction(in, relay.down);
  // What is guarded was read into memory.
  if (tunnel.guard && (relay.up.pipe.bytes > 0 || relay.down.pipe.bytes > 0)) in.fail();
  if (!in.is_done()) return Error{"a tunnel that is handed over is malformed"};
  const std::size_t pipes =
      (relay.up.pipe.bytes > 0 ? 1U : 0U) + (relay.down.pipe.bytes > 0 ? 1U : 0U);
  if (descriptors.size() != 2 + 2 * pipes) {
    return Error{"a tunnel that is handed over has the wrong number of descriptors"};
  }
  auto next = descriptors.begin();
  relay.client = std::move(*next++);
  relay.origin = std::move(*next++);
  for (net::FrozenDirection* way : {&relay.up, &relay.down}) {
    if (way->pipe.bytes == 0) continue;
    way->pipe.read_end = std::move(*next++);
    way->pipe.write_end = std::move(*next++);
  }
  return tunnel;
}

}  // namespace stile::session
