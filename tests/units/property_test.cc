// Limits of a worker as properties of its unit.
#include "units/property.h"

#include <gtest/gtest.h>

namespace stile::units {
namespace {

TEST(UnitProperty, LimitsHaveTheUnitsOfSystemd) {
  const config::ResourceLimits limits{4096, 150, 512, 50, 1024, 7};
  const std::vector<Property> expected{{"MemoryMax", std::uint64_t{4096} << 20U},
                                       {"MemorySwapMax", std::uint64_t{0}},
                                       {"CPUQuotaPerSecUSec", std::uint64_t{1'500'000}},
                                       {"CPUShares", std::uint64_t{512}},
                                       {"TasksMax", std::uint64_t{50}}};
  EXPECT_EQ(group_limits(limits), expected);
  EXPECT_TRUE(group_limits({}).empty());
}

}  // namespace
}  // namespace stile::units
