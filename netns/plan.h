// plan: the steps from the current state to the wanted state. Pure: reads nothing from the system.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace stile::netns {

// The parts of one agent, in the order of creation. Each step can be repeated.
enum class Step : std::uint8_t {
  write_record,     // the journal, as incomplete: from here on `repair` can clean up
  make_namespace,   // user and network namespace, kept by a file in /run/netns
  make_devices,     // the veth pair, down on the host's side
  shut_device,      // sysctls of the host's end
  settle_inside,    // address, route and neighbour in the namespace
  raise_device,     // host's end up, with route and neighbour
  admit,            // elements in the sets of the table
  write_resolver,   // resolv.conf for `ip netns exec`, or none if the agent has no name server
  write_card,       // from here on the daemon knows the agent
  complete_record,  // everything exists
  // The steps of a removal, which also begins with write_record.
  remove_devices,  // from here on no packet arrives
  expel,           // elements out of the sets
  close_sockets,   // the host's open connections with that address
  remove_card,     // the daemon removes the agent
  remove_resolver,
  remove_namespace,  // the file in /run/netns; the namespace ends with its last process
  remove_record,
};
[[nodiscard]] std::string_view text(Step step) noexcept;

// The parts of an agent that were found. Default: none.
struct AgentState {
  enum class Record : std::uint8_t { none, incomplete, complete };
  Record record = Record::none;
  bool has_namespace = false;
  bool has_devices = false;        // the host's end exists, with our address and flags
  bool is_device_shut = false;     // all sysctls as they should be
  bool is_settled_inside = false;  // the other end is in the namespace and has what it needs
  bool is_raised = false;          // host's end up, with route and neighbour
  bool is_admitted = false;        // its elements are in the sets
  bool has_resolver = false;       // resolv.conf, or needs none
  bool has_card = false;           // or needs none: the operator's own card binds it
  friend bool operator==(const AgentState&, const AgentState&) = default;
};

[[nodiscard]] bool is_whole(const AgentState& state) noexcept;

// All steps, for a new agent.
[[nodiscard]] std::vector<Step> plan_create();
// Only the missing parts; nothing for a complete agent. Parts that depend on a recreated part are
// recreated, too: devices exist in a namespace and end with it.
[[nodiscard]] std::vector<Step> plan_repair(const AgentState& state);
// Always all steps: a part that is already gone costs only one failed look-up.
[[nodiscard]] std::vector<Step> plan_remove();

}  // namespace stile::netns
