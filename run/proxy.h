// Proxy: the proxy of the daemon, in this process, for one listener that is one agent.
#pragma once

#include <memory>
#include <optional>

#include "audit/log.h"
#include "proxy/server/dns_environment.h"
#include "proxy/server/host_addresses.h"
#include "proxy/server/worker.h"
#include "run/policy.h"
#include "run/service.h"
#include "run/summary.h"

namespace stile::run {

class Proxy final : public Service {
 public:
  // Opens the log, while we may still be somebody who can. Starts no thread.
  static Result<std::unique_ptr<Proxy>> open(Policy policy, const Options& options,
                                             Summary& summary);
  ~Proxy() override;

  // One thread is enough for one command.
  [[nodiscard]] Result<void> serve(UniqueFd listener) override;
  // The disk, files that changed, time that ran out.
  void tick() override;
  void stop() override;
  [[nodiscard]] bool is_log_in_place() const override { return log_->is_in_place(); }

 private:
  Proxy(Policy policy, std::unique_ptr<audit::Log> log);
  void write_line(audit::Record record);

  Policy policy_;
  std::unique_ptr<audit::Log> log_;
  server::DnsFiles dns_files_;
  std::optional<server::HostAddresses> addresses_;
  session::Shared shared_;
  std::unique_ptr<server::Worker> worker_;
};

}  // namespace stile::run
