// A worker's unit: its fence comes first and goes last.
#include "spawn/unit.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace stile::spawn {
namespace {

UnitFacts some_facts() {
  UnitFacts facts{"alpha", "00ff", "/usr/sbin/stile-netns", "/c.json", "/w.json", {}, 60};
  facts.limits.memory_mb = 64;
  facts.limits.max_processes = 50;
  facts.limits.max_open_files = 128;
  facts.limits.disk_mb = 3;
  return facts;
}

const units::PropertyValue* value_of(const units::Unit& unit, std::string_view name) {
  const auto found = std::find_if(unit.properties.begin(), unit.properties.end(),
                                  [&](const auto& property) { return property.name == name; });
  return found == unit.properties.end() ? nullptr : &found->value;
}

TEST(SpawnUnit, NamesAreReadBack) {
  EXPECT_EQ(unit_name("alpha"), "sandboxed-agent@alpha.service");
  EXPECT_EQ(id_of_unit("sandboxed-agent@alpha.service"), "alpha");
  for (const auto* other :
       {"", "sandboxed-agent@.service", "sandboxed-agent@a.socket", "ssh.service",
        "sandboxed-agent@A.service", "sandboxed-agent@a/b.service"}) {
    EXPECT_EQ(id_of_unit(other), "") << other;
  }
}

TEST(SpawnUnit, SystemdMakesAndRemovesTheNamespace) {
  const auto unit = worker_unit(some_facts());
  using Commands = std::vector<units::Exec>;
  EXPECT_EQ(*value_of(unit, "ExecStartPre"),
            units::PropertyValue(Commands{
                {{"/usr/sbin/stile-netns", "create", "alpha", "--card", "/c.json", "--new", "00ff"},
                 false}}));
  EXPECT_EQ(
      *value_of(unit, "ExecStart"),
      units::PropertyValue(Commands{{{"/usr/sbin/stile-netns", "worker", "/w.json"}, false}}));
  const Commands removal{
      {{"/usr/sbin/stile-netns", "delete", "alpha", "--kill", "--instance", "00ff"}, false}};
  EXPECT_EQ(*value_of(unit, "ExecStopPost"), units::PropertyValue(removal));
  EXPECT_EQ(*value_of(cleanup_unit(some_facts()), "ExecStart"), units::PropertyValue(removal));
}

TEST(SpawnUnit, LimitsAreProperties) {
  const auto unit = worker_unit(some_facts());
  EXPECT_EQ(*value_of(unit, "RuntimeMaxUSec"), units::PropertyValue(std::uint64_t{60'000'000}));
  EXPECT_EQ(*value_of(unit, "MemoryMax"), units::PropertyValue(std::uint64_t{64} << 20U));
  EXPECT_EQ(*value_of(unit, "TasksMax"), units::PropertyValue(std::uint64_t{52}));
  EXPECT_EQ(*value_of(unit, "LimitNOFILE"), units::PropertyValue(std::uint64_t{128}));
  EXPECT_EQ(*value_of(unit, "LimitFSIZE"), units::PropertyValue(std::uint64_t{3} << 20U));
  auto facts = some_facts();
  facts.ttl_seconds = 0;
  EXPECT_EQ(value_of(worker_unit(facts), "RuntimeMaxUSec"), nullptr);
}

}  // namespace
}  // namespace stile::spawn
