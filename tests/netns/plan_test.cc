// plan: which steps are left.
#include "netns/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace stile::netns {
namespace {

using Steps = std::vector<Step>;

AgentState whole() {
  return {AgentState::Record::complete, true, true, true, true, true, true, true, true};
}

TEST(NetnsPlan, RepairsNothingThatIsWhole) {
  EXPECT_TRUE(plan_repair(whole()).empty());
  EXPECT_TRUE(is_whole(whole()));
}

TEST(NetnsPlan, RepairsWhatIsMissingAndWhatDependsOnIt) {
  const auto without = [](bool AgentState::*part) {
    auto state = whole();
    state.*part = false;
    return state;
  };
  const Steps devices{Step::make_devices, Step::shut_device, Step::settle_inside,
                      Step::raise_device};
  Steps from_namespace{Step::make_namespace};
  from_namespace.insert(from_namespace.end(), devices.begin(), devices.end());
  const struct {
    bool AgentState::*missing;
    Steps expected;
  } cases[] = {
      {&AgentState::has_namespace, from_namespace},
      {&AgentState::has_devices, devices},
      {&AgentState::is_settled_inside, devices},
      {&AgentState::is_device_shut, {Step::shut_device}},
      {&AgentState::is_raised, {Step::raise_device}},
      {&AgentState::is_admitted, {Step::admit}},
      {&AgentState::has_resolver, {Step::write_resolver}},
      {&AgentState::has_card, {Step::write_card}},
  };
  for (const auto& [missing, expected] : cases) {
    EXPECT_EQ(plan_repair(without(missing)), expected) << text(expected.front());
  }
}

TEST(NetnsPlan, MakesEverythingOfAnAgentOfWhichNothingIsThere) {
  auto expected = plan_create();
  expected.erase(expected.begin());  // the record is there, or nobody would repair
  EXPECT_EQ(plan_repair({}), expected);
}

TEST(NetnsPlan, CreatesTheRecordFirstAndTheCardAfterTheFence) {
  const auto steps = plan_create();
  const auto place = [&](Step step) { return std::find(steps.begin(), steps.end(), step); };
  EXPECT_EQ(steps.front(), Step::write_record);
  EXPECT_EQ(steps.back(), Step::complete_record);
  EXPECT_LT(place(Step::shut_device), place(Step::raise_device));
  EXPECT_LT(place(Step::admit), place(Step::write_card));
}

TEST(NetnsPlan, RemovesTheDevicesBeforeAllElseAndTheRecordLast) {
  const auto steps = plan_remove();
  EXPECT_EQ(steps.front(), Step::write_record);
  EXPECT_EQ(steps.at(1), Step::remove_devices);
  EXPECT_EQ(steps.back(), Step::remove_record);
}

}  // namespace
}  // namespace stile::netns
