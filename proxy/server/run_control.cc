// RunControl: the policy of one command without a daemon.
#include "proxy/server/run_control.h"

#include <utility>

namespace stile::server {
namespace {

bool is_served(control::Action action) {
  using control::Action;
  switch (action) {
    case Action::ping:
    case Action::status:
    case Action::agents:
    case Action::agent:
    case Action::allow:
    case Action::revoke:
    case Action::mode:
    case Action::budget_reset:
    case Action::explain:
    case Action::tail:
    case Action::connections:
      return true;
    default:
      return false;
  }
}

config::Checked<control::Reading> nothing_to_read() {
  config::Diagnostics problems;
  problems.error({}, "reload", "a stile run reads its files once");
  return problems;
}

}  // namespace

RunControl::RunControl(control::BasePtr base, audit::Log& log)
    : work_{context_.get_executor()},
      desk_{context_, nothing_to_read, control::LivePolicy{std::move(base), {}}, std::nullopt},
      log_{log} {}

RunControl::~RunControl() {
  stop();
  desk_.stop();
}

void RunControl::start(session::Shared& shared, Workers& workers, UniqueFd socket) {
  PolicyDesk::Daemon hooks;
  hooks.publish = [&shared, &workers](std::shared_ptr<const acl::Snapshot> snapshot) {
    shared.policy.swap(std::move(snapshot));
    for (auto& worker : workers) worker->judge_again(false);
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
  desk_.start(log_, std::move(hooks));
  service_ = std::make_unique<ControlService>(
      context_, desk_, log_, workers,
      ControlService::Daemon{[] {},
                             []() -> Result<audit::Log::Head> { return Error{"no"}; },
                             [&shared] { return shared.connections.load(); },
                             {}});
  commands_ = std::make_unique<Commands>(*service_);
  server_ = std::make_unique<control::Server>(context_, *commands_);
  if (socket) server_->listen(std::move(socket), true);
  thread_ = std::thread{[this] { context_.run(); }};
}

void RunControl::stop() {
  if (!thread_.joinable()) return;
  context_.stop();
  thread_.join();
  server_->stop();
}

void RunControl::Commands::serve(const control::Request& request,
                                 const control::ConnectionPtr& client) {
  if (is_served(request.action)) return all_.serve(request, client);
  client->fail({control::ErrorCode::forbidden,
                "this is a `stile run`, not a daemon: it knows no " +
                    std::string{control::text(request.action)},
                "stile status   (its policy comes from the flags of its command line)"});
}

}  // namespace stile::server
