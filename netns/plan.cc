// plan: the steps from the current state to the wanted state.
#include "netns/plan.h"

#include <array>
#include <utility>

namespace stile::netns {
namespace {

constexpr std::array creation{
    Step::write_record,  Step::make_namespace,  Step::make_devices, Step::shut_device,
    Step::settle_inside, Step::raise_device,    Step::admit,        Step::write_resolver,
    Step::write_card,    Step::complete_record,
};

// Marks the record first: `repair` finishes an interrupted removal instead of undoing it.
constexpr std::array removal{
    Step::write_record,     Step::remove_devices, Step::expel,
    Step::close_sockets,    Step::remove_card,    Step::remove_resolver,
    Step::remove_namespace, Step::remove_record,
};

}  // namespace

std::string_view text(Step step) noexcept {
  switch (step) {
    case Step::write_record:
      return "note the change";
    case Step::make_namespace:
      return "make the namespace";
    case Step::make_devices:
      return "make the devices";
    case Step::shut_device:
      return "shut the device";
    case Step::settle_inside:
      return "set up the inside";
    case Step::raise_device:
      return "raise the device";
    case Step::admit:
      return "admit the agent to the table";
    case Step::write_resolver:
      return "write the resolv.conf";
    case Step::write_card:
      return "write the card";
    case Step::complete_record:
      return "complete the record";
    case Step::remove_devices:
      return "remove the devices";
    case Step::expel:
      return "take the agent out of the table";
    case Step::close_sockets:
      return "close the host's connections";
    case Step::remove_card:
      return "remove the card";
    case Step::remove_resolver:
      return "remove the resolv.conf";
    case Step::remove_namespace:
      return "remove the namespace";
    case Step::remove_record:
      return "remove the record";
  }
  return "";
}

bool is_whole(const AgentState& state) noexcept { return plan_repair(state).empty(); }

std::vector<Step> plan_create() { return {creation.begin(), creation.end()}; }

std::vector<Step> plan_repair(const AgentState& state) {
  const bool devices = state.has_namespace && state.has_devices && state.is_settled_inside;
  const std::array<std::pair<Step, bool>, 9> wanted{{
      {Step::make_namespace, state.has_namespace},
      {Step::make_devices, devices},
      {Step::shut_device, devices && state.is_device_shut},
      {Step::settle_inside, devices},
      {Step::raise_device, devices && state.is_raised},
      {Step::admit, state.is_admitted},
      {Step::write_resolver, state.has_resolver},
      {Step::write_card, state.has_card},
      {Step::complete_record, state.record == AgentState::Record::complete},
  }};
  std::vector<Step> steps;
  for (const auto& [step, is_done] : wanted) {
    if (!is_done) steps.push_back(step);
  }
  return steps;
}

std::vector<Step> plan_remove() { return {removal.begin(), removal.end()}; }

}  // namespace stile::netns
