// Proxy: the daemon's proxy in this process, for one listener and one agent.
#pragma once

#include <memory>
#include <optional>

#include "audit/log.h"
#include "proxy/server/dns_environment.h"
#include "proxy/server/host_addresses.h"
#include "proxy/server/opening.h"
#include "proxy/server/run_control.h"
#include "run/policy.h"
#include "run/service.h"
#include "run/summary.h"

namespace stile::run {

class Proxy final : public Service {
 public:
  // Opens the log before privileges are dropped. Starts no thread. `audit`: the log; empty: none.
  // `policy_lines` are its first lines. `control`: a listening socket for operators, or none.
  static Result<std::unique_ptr<Proxy>> open(Policy policy, const std::optional<std::string>& audit,
                                             std::vector<std::string> policy_lines,
                                             UniqueFd control, Summary& summary);
  ~Proxy() override;

  // One thread is enough for one command.
  [[nodiscard]] Result<void> serve(UniqueFd listener, std::vector<UniqueFd> captured) override;
  [[nodiscard]] bool can_capture() const override { return true; }
  // Checks the disk, and files and addresses that changed.
  void tick() override;
  void stop() override;
  [[nodiscard]] bool is_log_in_place() const override { return log_->is_in_place(); }
  [[nodiscard]] const std::string& agent() const override { return policy_.agent; }
  [[nodiscard]] Trust trust() const override;

 private:
  Proxy(Policy policy, std::unique_ptr<audit::Log> log, UniqueFd control,
        std::vector<std::string> policy_lines);
  [[nodiscard]] Result<void> prepare_opening();
  [[nodiscard]] Result<void> start_worker(UniqueFd listener, std::vector<UniqueFd> captured);
  void write_line(audit::Record record);

  Policy policy_;
  std::unique_ptr<audit::Log> log_;
  server::Opening opening_;
  std::shared_ptr<const intercept::Interceptor> interceptor_;  // null: nothing is opened
  server::DnsFiles dns_files_;
  std::optional<server::HostAddresses> addresses_;
  UniqueFd control_socket_;
  std::vector<std::string> policy_lines_;
  std::unique_ptr<server::RunControl> control_;
  std::unique_ptr<session::Shared> shared_;
  server::Workers workers_;  // one
};

}  // namespace stile::run
