// apply: executes the steps of a plan.
#pragma once

#include <functional>
#include <span>

#include "base/result.h"
#include "netns/host.h"
#include "netns/plan.h"

namespace stile::netns {

[[nodiscard]] Result<void> apply(FenceHost& host, FenceRecord& record, Step step);

// Called before each step; for tests that end the process at that point.
using BeforeStep = std::function<void(Step)>;

// Executes all steps in order, until one fails.
[[nodiscard]] Result<void> apply_all(FenceHost& host, FenceRecord& record,
                                     std::span<const Step> steps, const BeforeStep& before = {});
// Executes all steps even if some fail, to clean up. Returns the first error.
[[nodiscard]] Result<void> remove_all(FenceHost& host, FenceRecord& record,
                                      const BeforeStep& before = {});

}  // namespace stile::netns
