// PolicyExchange: checks a config that a person typed, against the daemon's config, log and
// connections.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/capability.h"
#include "web/client.h"
#include "web/control_link.h"
#include "web/policy_check.h"

namespace stile::web {

class PolicyExchange : public std::enable_shared_from_this<PolicyExchange> {
 public:
  // A log is read from its beginning, at most so far.
  static constexpr std::uint64_t max_log_bytes = std::uint64_t{512} << 20U;

  PolicyExchange(ControlLink& daemon, const config::CapabilityFiles& capabilities,
                 std::shared_ptr<WebClient> client)
      : daemon_{daemon}, capabilities_{capabilities}, client_{std::move(client)} {}

  void start(std::string_view body);

 private:
  void compare(const std::string& answer);
  void read_log();
  bool take_line(std::string_view line);
  void read_connections();
  void fail(unsigned status, std::string_view code, std::string_view message);

  ControlLink& daemon_;
  const config::CapabilityFiles& capabilities_;
  std::shared_ptr<WebClient> client_;
  std::string text_;
  std::optional<PolicyCheck> check_;
  std::uint64_t bytes_ = 0;
  bool has_begun_ = false, is_complete_ = false;
};

}  // namespace stile::web
