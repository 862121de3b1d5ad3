// plan: from what there is to what there should be, as a list of steps. Pure: looks at nothing.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace stile::netns {

// What one agent consists of, in the order in which it is made. Each step can be repeated.
enum class Step : std::uint8_t {
  write_record,     // the journal, as incomplete: from here on `repair` knows what to clean up
  make_namespace,   // user and network namespace, kept by a file in /run/netns
  make_devices,     // the veth pair, down on the host's side
  shut_device,      // sysctls of the host's end
  settle_inside,    // address, route and neighbour in the namespace
  raise_device,     // host's end up, with route and neighbour
  admit,            // elements in the sets of the table
  write_card,       // from here on the daemon knows the agent
  complete_record,  // all is there
  // And the way back, which begins with write_record as well.
  remove_devices,    // from here on nothing arrives
  expel,             // elements out of the sets
  close_sockets,     // connections that the host still has with that address
  remove_card,       // the daemon forgets the agent
  remove_namespace,  // the file in /run/netns; the namespace lives on with its last process
  remove_record,
};
[[nodiscard]] std::string_view text(Step step) noexcept;

// What was found of an agent. Default: nothing.
struct AgentState {
  enum class Record : std::uint8_t { none, incomplete, complete };
  Record record = Record::none;
  bool has_namespace = false;
  bool has_devices = false;        // the host's end is there, with our address and flags
  bool is_device_shut = false;     // all sysctls as they should be
  bool is_settled_inside = false;  // the other end is in the namespace and has what it needs
  bool is_raised = false;          // host's end up, with route and neighbour
  bool is_admitted = false;        // both elements are in the sets
  bool has_card = false;           // or needs none: the operator's own card binds it
  friend bool operator==(const AgentState&, const AgentState&) = default;
};

[[nodiscard]] bool is_whole(const AgentState& state) noexcept;

// Everything, for an agent that was not there.
[[nodiscard]] std::vector<Step> plan_create();
// Only what is missing; nothing for one that is whole. What depends on something that has to be
// made again is made again, too: devices live in a namespace and are its end.
[[nodiscard]] std::vector<Step> plan_repair(const AgentState& state);
// Always all of it: what is gone already costs one failed look-up.
[[nodiscard]] std::vector<Step> plan_remove();

}  // namespace stile::netns
