// Proxy: the daemon's proxy in this process, for one listener and one agent.
#include "run/proxy.h"

#include <string_view>

#include "proxy/server/host_addresses.h"
#include "proxy/server/version.h"
#include "proxy/server/worker_options.h"
#include "run/capture.h"

namespace stile::run {
namespace {

// Audit lines are made even without a log file: the summary counts them.
constexpr auto nowhere = "/dev/null";

// The links in /dev that the system makes, by their exact names. Other users can create links below
// /dev/shm, and "/dev/../srv/log" is a path outside /dev.
bool is_link_of_the_system(std::string_view path) {
  constexpr std::string_view descriptors = "/dev/fd/";
  if (path == "/dev/stdout" || path == "/dev/stderr" || path == nowhere) return true;
  if (!path.starts_with(descriptors)) return false;
  const auto number = path.substr(descriptors.size());
  return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

Result<std::unique_ptr<Proxy>> Proxy::open(Policy policy, const std::optional<std::string>& audit,
                                           std::vector<std::string> policy_lines, UniqueFd control,
                                           Summary& summary) {
  audit::Log::Options log_options;
  log_options.path = audit.value_or(nowhere);
  // An earlier command may have replaced the log by a link. Then we would write to any file of
  // ours, partly with bytes that the command chooses.
  log_options.follows_links = is_link_of_the_system(log_options.path);
  auto log = audit::Log::open(std::move(log_options));
  if (!log) return log.error();
  (*log)->set_tap([&summary](std::string_view lines) { summary.add(lines); });
  std::unique_ptr<Proxy> proxy{
      new Proxy{std::move(policy), std::move(*log), std::move(control), std::move(policy_lines)}};
  if (auto done = proxy->prepare_opening(); !done) return done.error();
  return proxy;
}

// The CA lives as long as the command, and is trusted nowhere else.
Result<void> Proxy::prepare_opening() {
  if (!policy_.base->opens_tunnels()) return {};
  auto settings = policy_.base->loaded.settings.intercept;
  settings.ca.clear();
  if (auto done = opening_.open_authority(settings); !done) return done;
  auto made = opening_.make_interceptor(settings);
  if (!made) return made.error();
  interceptor_ = std::move(*made);
  return {};
}

Trust Proxy::trust() const {
  return interceptor_ ? Trust{interceptor_->authority().trusted(), {}} : Trust{};
}

Proxy::Proxy(Policy policy, std::unique_ptr<audit::Log> log, UniqueFd control,
             std::vector<std::string> policy_lines)
    : policy_{std::move(policy)},
      log_{std::move(log)},
      dns_files_{policy_.base->loaded.settings.dns},
      control_socket_{std::move(control)},
      policy_lines_{std::move(policy_lines)} {}

Proxy::~Proxy() { stop(); }

Result<void> Proxy::serve(UniqueFd listener, std::vector<UniqueFd> captured) {
  control_ = std::make_unique<server::RunControl>(std::move(policy_.base), *log_);
  const auto& snapshot = control_->editor().policy().snapshot();
  audit::Record start;
  start.event = audit::Event::start;
  start.policy = snapshot->generation();
  start.version = server::version;
  write_line(start);
  for (const auto& text : policy_lines_) {
    audit::Record line;
    line.event = audit::Event::policy;
    line.agent = policy_.agent;
    line.policy = snapshot->generation();
    line.actor = "stile run";
    line.detail = text;
    write_line(line);
  }
  shared_ = std::make_unique<session::Shared>(snapshot,
                                              control_->editor().settings().netns.capture_subnet);
  shared_->granted_by = session::GrantedBy::flag;
  shared_->asks = &control_->asks();
  if (interceptor_) shared_->set_interceptor(interceptor_);
  if (auto started = start_worker(std::move(listener), std::move(captured)); !started)
    return started;
  control_->start(*shared_, workers_, std::move(control_socket_));
  return {};
}

Result<void> Proxy::start_worker(UniqueFd listener, std::vector<UniqueFd> captured) {
  server::Worker::Options options = server::worker_options(control_->editor().settings());
  options.dns_environment = dns_files_.read();
  auto addresses = server::HostAddresses::open();
  if (!addresses) return addresses.error();
  addresses_.emplace(std::move(*addresses));
  options.own_addresses = addresses_->with({});
  workers_.push_back(std::make_unique<server::Worker>(*shared_, *log_, options));
  auto& worker = *workers_.front();
  worker.listen(std::move(listener), policy_.agent);
  if (!captured.empty()) {
    const CapturePlan plan{control_->editor().settings().netns.capture_subnet, {}};
    worker.answer_questions(std::move(captured.front()), policy_.agent);
    for (std::size_t i = 1; i < captured.size(); ++i) {
      worker.capture(std::move(captured[i]), policy_.agent, plan.name_server());
    }
  }
  worker.start();
  return {};
}

void Proxy::tick() {
  log_->retry();
  shared_->refusals.write_counted(*log_);
  auto& worker = *workers_.front();
  if (const auto changed = addresses_->refresh(); changed && *changed) {
    worker.post(
        [own = addresses_->with({})](session::Context& context) { context.own_addresses = own; });
  }
  if (dns_files_.changed()) {
    worker.change_dns(server::dns_options_of(control_->editor().settings().dns), dns_files_.read());
  }
}

void Proxy::stop() {
  if (workers_.empty()) return;
  control_->stop();
  workers_.front()->stop();
  workers_.clear();
  shared_->refusals.write_counted(*log_, true);
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
