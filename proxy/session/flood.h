// FloodLog: refusals at accept, one audit line per agent and second however many there are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "acl/account.h"
#include "acl/decision.h"
#include "proxy/base/loop.h"
#include "proxy/session/audit_queue.h"

namespace stile::session {

class FloodLog final : private Deadline {
 public:
  FloodLog(Loop& loop, AuditQueue& audit) : loop_{loop}, audit_{audit} {}

  // How many refusals the line for this one must tell of; 0: it will be part of a later line. The
  // count is the account's, so that all workers together write one line.
  [[nodiscard]] std::uint64_t count(const std::string& agent,
                                    const std::shared_ptr<acl::Account>& account,
                                    acl::Reason reason);

 private:
  struct Entry {
    std::shared_ptr<acl::Account> account;
    acl::Reason reason = acl::Reason::none;
  };
  [[nodiscard]] std::uint64_t take_due(acl::Account& account) const;
  void on_deadline() override;

  Loop& loop_;
  AuditQueue& audit_;
  std::unordered_map<std::string, Entry> entries_;  // with something untold; at most all agents
};

}  // namespace stile::session
