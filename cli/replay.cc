// replay: judges the requests of a log by two policies.
#include "cli/replay.h"

#include <algorithm>

namespace stile::cli {

CommandOutcome<Replay> replay(const Seen& seen, const Judge& before, const Judge& after) {
  Replay result;
  for (const auto& [target, outcome] : seen.targets()) {
    const auto count = outcome.count();
    result.requests += count;
    ++result.targets;
    auto first = before.judge(target, outcome);
    if (!first) return first.error();
    auto second = after.judge(target, outcome);
    if (!second) return second.error();
    if (first->verdict == second->verdict) continue;
    auto& list = first->passes() == second->passes() ? result.noted
                 : second->passes()                  ? result.allowed
                                                     : result.refused;
    list.push_back({target.agent.empty() ? "-" : target.agent, target_text(target), count,
                    std::move(*first), std::move(*second)});
  }
  for (auto* list : {&result.refused, &result.allowed, &result.noted}) {
    std::stable_sort(list->begin(), list->end(),
                     [](const ReplayRow& a, const ReplayRow& b) { return a.count > b.count; });
  }
  return result;
}

}  // namespace stile::cli
