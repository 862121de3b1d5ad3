// Daemon: a running stiled serves the command, through its control socket.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "control/client.h"
#include "run/launch.h"
#include "run/service.h"
#include "run/summary.h"

namespace stile::run {

class Daemon final : public Service {
 public:
  // Connects before privileges are dropped.
  static Result<std::unique_ptr<Daemon>> open(const std::string& socket, const Launch& launch,
                                              Summary& summary);
  ~Daemon() override;

  [[nodiscard]] Result<void> serve(UniqueFd listener, std::vector<UniqueFd> captured) override;
  [[nodiscard]] bool can_capture() const override { return true; }
  void tick() override {}
  void stop() override;
  [[nodiscard]] const std::string& agent() const override { return agent_; }
  [[nodiscard]] Trust trust() const override { return trust_; }

 private:
  Daemon(std::string card, std::string agent, std::vector<control::ControlClient> connections,
         Summary& summary);
  void read_tail();

  std::string card_, agent_;
  Trust trust_;
  std::optional<control::ControlClient> adoption_;  // the agent exists as long as this is open
  control::ControlClient tail_, questions_;
  Summary& summary_;
  std::thread reader_;
  std::atomic<bool> is_stopping_ = false;
};

}  // namespace stile::run
