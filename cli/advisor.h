// Advisor: advice about refusals in a stream of audit lines, once for each kind.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "audit/line.h"
#include "cli/advice.h"
#include "cli/control_command.h"

namespace stile::cli {

class Advisor {
 public:
  explicit Advisor(ControlOptions options) : options_{std::move(options)} {}

  // The advice after an audit line, if it is the first refusal of its kind.
  [[nodiscard]] Advice after(const audit::Line& line);

 private:
  struct Known {
    std::chrono::steady_clock::time_point asked;
    Situation situation;
  };
  const Situation& situation_of(const std::string& agent);
  Situation ask(const std::string& agent);
  [[nodiscard]] bool may_be_open(const std::string& ask);

  ControlOptions options_;
  std::optional<control::ControlClient>
      client_;  // separate from the caller's client, which may be in the middle of a tail
  bool has_no_daemon_ = false;
  std::map<std::string, Known> known_;
  std::set<std::string> told_;
};

}  // namespace stile::cli
