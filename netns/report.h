// report: the findings of `check`, for people, for programs, for Prometheus. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "netns/check.h"

namespace stile::netns {

[[nodiscard]] std::string report_table(const CheckReport& report);
[[nodiscard]] std::string report_json(const CheckReport& report);
// For the node exporter's textfile collector.
[[nodiscard]] std::string report_metrics(const CheckReport& report, std::int64_t unix_seconds);

}  // namespace stile::netns
