// Answers of the control socket: every view as one line of JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/log_health.h"
#include "proxy/commands/explain.h"
#include "proxy/commands/views.h"
#include "proxy/session/live.h"

namespace stile::commands {

[[nodiscard]] std::string json(Done);
[[nodiscard]] std::string json(const Named& named);
[[nodiscard]] std::string json(const PingView& view);
[[nodiscard]] std::string json(const StatusView& view);
[[nodiscard]] std::string json(const AgentViews& agents);
[[nodiscard]] std::string json(const AgentDetailView& view);
// One list per worker.
[[nodiscard]] std::string json(const std::vector<std::vector<session::ConnectionInfo>>& parts);
[[nodiscard]] std::string json(const Explanation& explanation);
[[nodiscard]] std::string json(const AllowView& view);
[[nodiscard]] std::string json(const RevokeView& view);
[[nodiscard]] std::string json(const ReloadView& view);
[[nodiscard]] std::string json(const control::WrittenConfig& config);
// The end of the log before a rotation.
[[nodiscard]] std::string json(const audit::Log::Head& head);

// Lines that `tail` shows between audit lines.
[[nodiscard]] std::string json(const control::LogNews& news);
// The line after the last one of the log.
inline constexpr std::string_view end_of_lines = R"({"event":"end"})";

}  // namespace stile::commands
