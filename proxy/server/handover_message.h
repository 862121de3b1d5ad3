// Message: what two daemons say to each other while one takes over from the other. Pure.
//
// The order is in docs/decisions/0005-handover.md. `hello`, `refuse` and the numbers of an `offer`
// are the same in all versions of the format; everything else is read only by a process that speaks
// the version of the offer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stile::server {

// The versions of the format that this program reads and writes. A new one keeps the one before it,
// so that an upgrade can be undone.
inline constexpr std::uint64_t oldest_format = 1, newest_format = 1;

struct Message {
  enum class Kind : std::uint8_t {
    hello = 1,  // new: first, second: its oldest and newest format; name: its version; text: its
                // run of the unit; agent: what systemd should watch for it, if it is not itself
    refuse,     // old: text says why; it goes on serving
    offer,      // old: first: the format; second: its pid; name: its version; text: audit settings
    socket,     // old: name, agent, and first: a SocketRole; with descriptors
    offered,    // old: that were all sockets
    freeze,     // new: it can start
    frozen,     // old: the state is on disk and will not change
    ready,      // new: it runs; with the stream for audit lines
    minute,     // old: agent, name: a host; first, second: start and count of its requests
    commit,     // old: first: the next number of a connection; second, text: the log's last line
    serving,  // new: it serves from here on, and has written nothing yet; text: its config's digest
    tunnel,   // old: text: a FrozenTunnel; with its descriptors
    client,   // old: text: what an idle client of the control socket sent; with the client
    draw,     // old: agent, name, second: a BudgetKey; first: how much it would like
    drawn,    // new: the same key; first: how much it gets; flag: nothing will follow
    give_back,  // old: the same key; first: how much it did not use
    owe,        // old: agent, name: a host; first: tokens that were used there and not paid yet
    changed,    // new: list: agents whose policy has changed; flag: all have; text: as in `serving`
    taken,      // new: first: how many tunnels have arrived; the first one asks for them
    meet,       // new, at the rendezvous: the link on which it says everything else
    give_way,   // new, instead of `freeze`: it starts when the old one has drained and ended
  };
  static constexpr std::uint8_t last_kind = static_cast<std::uint8_t>(Kind::give_way);
  static constexpr std::size_t max_bytes = 200 * 1024;
  static constexpr std::size_t max_descriptors = 253;  // the kernel's limit for one message

  Kind kind = Kind::hello;
  std::uint64_t first = 0, second = 0;
  bool flag = false, other_flag = false;
  std::string name, agent, text;
  std::vector<std::string> list;
  std::vector<UniqueFd> descriptors;  // not part of the bytes
};

// What an offered socket is for.
enum class SocketRole : std::uint8_t {
  listener,         // of the config, known by its name
  agent_listener,   // the same, of one agent
  passed_listener,  // from systemd
  passed_agent_listener,
  control,
  read_only_control,
  metrics,
  captured_connections,
  questions,
  state_lock,  // and two that are no sockets
  audit_log,
};
inline constexpr std::uint64_t last_role = static_cast<std::uint64_t>(SocketRole::audit_log);

[[nodiscard]] std::string pack(const Message& message);
// Strict; the descriptors are added by the caller.
[[nodiscard]] Result<Message> unpack_message(std::string_view bytes);

// The format that both speak: the newest common one; 0: none.
[[nodiscard]] std::uint64_t common_format(std::uint64_t oldest, std::uint64_t newest) noexcept;

}  // namespace stile::server
