// texts: small forms of values that several files here write. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/unix_time.h"
#include "config/diagnostics.h"
#include "config/node.h"

namespace stile::spawn {

inline constexpr UnixMicros micros_in_second = 1'000'000;

// The first problem without its place, for callers: they did not write the file.
[[nodiscard]] inline std::string first_problem(const config::Diagnostics& problems) {
  const auto& first = problems.items().front();
  return (first.key.empty() ? "" : first.key + ": ") + first.problem;
}

[[nodiscard]] inline config::Node patterns_node(
    const std::vector<config::PlacedPattern>& patterns) {
  config::Node::Array items;
  for (const auto& one : patterns) items.push_back({one.pattern.text(), {}});
  return {std::move(items), {}};
}

}  // namespace stile::spawn
