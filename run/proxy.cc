// Proxy: the proxy of the daemon, in this process, for one listener that is one agent.
#include "run/proxy.h"

#include "proxy/base/clock.h"
#include "proxy/server/host_addresses.h"
#include "proxy/server/version.h"
#include "proxy/server/worker_options.h"

namespace stile::run {
namespace {

// Lines that nobody keeps are made all the same: the summary counts them.
constexpr auto nowhere = "/dev/null";

}  // namespace

Result<std::unique_ptr<Proxy>> Proxy::open(Policy policy, const Options& options,
                                           Summary& summary) {
  audit::Log::Options log_options;
  log_options.path = options.audit.value_or(nowhere);
  // A link that an earlier command left in the place of the log would have us write to any file of
  // ours, in part what the command likes. /dev/stdout and the like are links.
  log_options.follows_links = log_options.path.starts_with("/dev/");
  auto log = audit::Log::open(std::move(log_options));
  if (!log) return log.error();
  (*log)->set_tap([&summary](std::string_view lines) { summary.add(lines); });
  return std::unique_ptr<Proxy>{new Proxy{std::move(policy), std::move(*log)}};
}

Proxy::Proxy(Policy policy, std::unique_ptr<audit::Log> log)
    : policy_{std::move(policy)},
      log_{std::move(log)},
      dns_files_{policy_.settings.dns},
      shared_{policy_.snapshot} {}

Proxy::~Proxy() { stop(); }

Result<void> Proxy::serve(UniqueFd listener) {
  audit::Record start;
  start.event = audit::Event::start;
  start.policy = policy_.snapshot->generation();
  start.version = server::version;
  write_line(start);
  server::Worker::Options options = server::worker_options(policy_.settings);
  options.dns_environment = dns_files_.read();
  auto addresses = server::HostAddresses::open();
  if (!addresses) return addresses.error();
  addresses_.emplace(std::move(*addresses));
  options.own_addresses = addresses_->with({});
  worker_ = std::make_unique<server::Worker>(shared_, *log_, options);
  worker_->listen(std::move(listener), policy_.agent);
  worker_->start();
  return {};
}

void Proxy::tick() {
  log_->retry();
  shared_.refusals.write_counted(*log_);
  if (const auto changed = addresses_->refresh(); changed && *changed) {
    worker_->post(
        [own = addresses_->with({})](session::Context& context) { context.own_addresses = own; });
  }
  worker_->judge_again(true);  // time alone can turn a verdict
  if (dns_files_.changed()) worker_->change_dns(dns_files_.read());
}

void Proxy::stop() {
  if (!worker_) return;
  worker_->stop();
  worker_.reset();
  shared_.refusals.write_counted(*log_, true);
  audit::Record stopped;
  stopped.event = audit::Event::stop;
  write_line(stopped);
}

void Proxy::write_line(audit::Record record) {
  audit::Batch batch = log_->new_batch();
  record.time_us = unix_micros();
  batch.add(record);
  static_cast<void>(log_->write(batch));
}

}  // namespace stile::run
