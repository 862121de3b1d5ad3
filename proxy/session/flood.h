// FloodLog: refusals at accept, one audit line per agent and second however many there are.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "acl/decision.h"
#include "proxy/base/loop.h"
#include "proxy/session/audit_queue.h"

namespace stile::session {

class FloodLog final : private Deadline {
 public:
  FloodLog(Loop& loop, AuditQueue& audit) : loop_{loop}, audit_{audit} {}

  // How many refusals the line for this one must tell of; 0: it will be part of a later line.
  [[nodiscard]] std::uint64_t count(const std::string& agent, acl::Reason reason);

 private:
  struct Entry {
    acl::Reason reason = acl::Reason::none;
    std::uint64_t untold = 0;
    SteadyTime next{};
  };
  void on_deadline() override;

  Loop& loop_;
  AuditQueue& audit_;
  std::unordered_map<std::string, Entry> entries_;  // bounded by the number of agents
};

}  // namespace stile::session
