// RunControl: the policy of one command without a daemon.
#include "proxy/server/run_control.h"

#include <utility>

#include "proxy/server/version.h"

namespace stile::server {
namespace {

config::Checked<control::Reading> nothing_to_read(const config::FleetLayer&) {
  config::Diagnostics problems;
  problems.error({}, "reload", "a stile run reads its files once");
  return problems;
}

}  // namespace

RunControl::RunControl(control::FilePolicyPtr base, audit::Log& log)
    : work_{context_.get_executor()},
      asks_{context_},
      editor_{context_, nothing_to_read, control::LivePolicy{std::move(base), {}}, std::nullopt},
      log_{log} {}

RunControl::~RunControl() {
  stop();
  editor_.stop();
}

void RunControl::start(session::Shared& shared, Workers& workers, UniqueFd socket) {
  control::PolicyEditor::Daemon hooks;
  hooks.publish = [this, &shared, &workers](std::shared_ptr<const acl::Snapshot> snapshot) {
    asks_.set_policy(snapshot);
    shared.policy.swap(snapshot);
    judge_now(workers);
    asks_.policy_changed(*snapshot);
  };
  hooks.judge_by_time = [&workers] {
    for (auto& worker : workers) worker->judge_again(true);
  };
  hooks.refilled = [&workers] {
    for (auto& worker : workers) {
      worker->post([](session::Context& context) {
        context.relay.paused.wake();
        context.paused.wake();
      });
    }
  };
  hooks.settings_changed = [] {};
  hooks.notify = [](const std::string&) {};
  editor_.start(log_, std::move(hooks));
  asks_.start(log_, ports_of(workers), [] {});
  commands_ = std::make_unique<commands::Commands>(
      context_, editor_, asks_, log_, ports_of(workers),
      commands::Commands::Daemon{[] {},
                                 []() -> Result<audit::Log::Head> { return Error{"no"}; },
                                 [&shared] { return shared.connections.load(); },
                                 {},
                                 version,
                                 {},
                                 {},
                                 true});
  server_ = std::make_unique<control::ControlServer>(context_, *commands_);
  if (socket) server_->listen(std::move(socket), true);
  thread_ = std::thread{[this] { context_.run(); }};
}

void RunControl::stop() {
  if (!thread_.joinable()) return;
  context_.stop();
  thread_.join();
  server_->stop();
}

}  // namespace stile::server
