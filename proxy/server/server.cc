// Server: the daemon as a whole: workers, signals, control, metrics, drain.
#include "proxy/server/server.h"

#include <malloc.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/unix_time.h"
#include "proxy/base/log.h"
#include "proxy/server/version.h"
#include "proxy/server/worker_options.h"

namespace stile::server {
namespace {

using std::chrono::milliseconds, std::chrono::steady_clock;

// What `stile audit verify --head` compares; empty: the log has no chain.
std::string place_of(const audit::Log::Head& head) {
  if (head.seq == 0) return {};
  return " at seq " + std::to_string(head.seq) + ", head " + head.hash;
}

// A worker that opens TLS or scans allocates and frees some 100 KiB in each turn. By default malloc
// returns that to the kernel, and each page is faulted in and cleared again.
void keep_freed_buffers() {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 2 << 20);
}

}  // namespace

Server::Server(PolicyStore store, Front front, std::unique_ptr<Predecessor> predecessor)
    : predecessor_{std::move(predecessor)},
      store_{std::move(store)},
      signals_{context_},
      tick_{context_},
      drain_poll_{context_},
      address_pause_{context_},
      address_events_{context_},
      dns_files_{store_.base->loaded.settings.dns},
      front_{std::move(front)},
      asks_{context_},
      card_watch_{context_, [this] { editor_->read_cards(); }} {
  for (const int signal : {SIGHUP, SIGTERM, SIGINT, SIGUSR1}) signals_.add(signal);
}

const config::Settings& Server::settings() const {
  return editor_ ? editor_->settings() : store_.base->loaded.settings;
}

void Server::start_workers() {
  keep_freed_buffers();
  Worker::Options options = worker_options(settings());
  options.count = worker_count(settings().server);
  options.dns_environment = dns_files_.read();
  options.own_addresses = host_addresses_->with(listener_addresses_);
  for (; options.index < options.count; ++options.index) {
    workers_.push_back(std::make_unique<Worker>(*shared_, *log_, options));
  }
}

// Agents keep their addresses over a restart.
void Server::keep_names() {
  const std::string& directory = settings().server.state_dir;
  if (!is_of_fence_ || directory.empty()) return;
  const auto kept =
      shared_->names.keep_in(directory, *editor_->policy().snapshot(), steady_clock::now());
  if (!kept) log::warning("addresses lose their names at a restart: " + kept.error().message);
}

void Server::start_control() {
  control::PolicyEditor::Daemon daemon;
  daemon.publish = [this](std::shared_ptr<const acl::Snapshot> snapshot) {
    prepare_opening();
    shared_->names.keep_only(*snapshot);
    asks_.set_policy(snapshot);
    shared_->policy.swap(snapshot);
    if (shared_->leaving) return judge_left();
    tell_predecessor(*snapshot);
    judge_now(workers_);
    asks_.policy_changed(*snapshot);
  };
  daemon.judge_by_time = [this] {
    for (auto& worker : workers_) worker->judge_again(true);
  };
  daemon.refilled = [this] { wake_paused(); };
  daemon.settings_changed = [this] { settings_changed(); };
  daemon.notify = [this](const std::string& state) { notify(state); };
  daemon.asks = [this] { return asks_.saved(editor_->policy()); };
  editor_->start(*log_, std::move(daemon));
  asks_.start(*log_, ports_of(workers_), [this] { editor_->save_soon(); });
  service_ = std::make_unique<commands::Commands>(
      context_, *editor_, asks_, *log_, ports_of(workers_),
      commands::Commands::Daemon{
          [this] { drain(); }, [this] { return reopen_log(); },
          [this] { return shared_->connections.load(); }, [this] { return drain_time_left(); },
          version, program_, [this] { return trusted_ca(); }, false, fleet_user_,
          [this] { return is_capturing(); },
          [this](UniqueFd socket) { return serve_captured(std::move(socket)); },
          [this](UniqueFd link, int pid) { return hand_over(std::move(link), pid); }});
  control_ = std::make_unique<control::ControlServer>(context_, *service_);
  if (control_sockets_.control) control_->listen(std::move(control_sockets_.control), true);
  if (control_sockets_.read_only) control_->listen(std::move(control_sockets_.read_only), false);
  const auto& agents = settings().agents;
  if (agents.watch) card_watch_.watch(agents.directories);
}

Result<void> Server::run() {
  const auto& policy = editor_->policy();
  audit::Record start;
  start.event = audit::Event::start;
  start.policy = policy.snapshot()->generation();
  start.version = version;
  start.config = policy.base().loaded.digest;
  shared_ = std::make_unique<session::Shared>(policy.snapshot(), settings().netns.capture_subnet);
  shared_->asks = &asks_;
  prepare_opening();
  start_workers();
  const bool takes_over = predecessor_ != nullptr;
  if (takes_over) {
    for (auto& worker : workers_) worker->start();
    if (auto done = take_over(); !done) return done;
    if (inheritance_) start.detail = audit::taken_over;
    predecessor_.reset();  // closes the sockets that the config does not name any more
  } else {
    keep_names();
  }
  write_line(start);
  open_doors();
  if (!takes_over) {
    for (auto& worker : workers_) worker->start();
  }
  start_control();
  receive_tunnels();
  if (metrics_acceptor_) {
    AdminPages pages;
    pages.metrics = [this](auto done) { collect_metrics(std::move(done)); };
    pages.is_ready = [this] { return log_->healthy() && !shared_->draining; };
    admin_ = serve_admin(std::move(*metrics_acceptor_), pages);
    offer(SocketRole::metrics, settings().server.metrics->text(), "", {admin_->listener()});
  }
  wait_for_signal();
  watch_addresses();
  housekeeping();
  watch_keeper();
  if (auto done = front_.keeper.serves(); !done) return done;
  notify("READY=1\nSTATUS=" + std::to_string(policy.agents().size()) + " agents");
  if (front_.is_serving) front_.is_serving();
  context_.run();
  control_->stop();
  inheritance_.reset();  // no line of another process comes after the last one here
  for (auto& worker : workers_) worker->stop();
  shared_->refusals.write_counted(*log_, true);
  if (shared_->leaving) {
    await_drawn();
    give_back_budgets();
  } else {
    audit::Record stopped;
    stopped.event = audit::Event::stop;
    write_line(stopped);
  }
  editor_->stop();
  const auto head = log_->head();
  if (!shared_->leaving) {
    log::info("audit: stopped" + place_of(head));
  }
  return {};
}

void Server::write_line(audit::Record record) {
  audit::Batch batch = log_->new_batch();
  record.time_us = unix_micros();
  batch.add(record);
  static_cast<void>(log_->write(batch));
}

void Server::each_worker(const std::function<void(session::Context&)>& work) {
  for (auto& worker : workers_) worker->post(work);
}

void Server::wake_paused() {
  each_worker([](session::Context& context) {
    context.relay.paused.wake();
    context.paused.wake();
  });
}

void Server::notify(const std::string& state) const {
  if (!shared_->leaving && !outliving_) ::sd_notify(0, state.c_str());
}

void Server::change_dns() {
  const auto options = dns_options_of(settings().dns);
  const auto environment = dns_files_.read();
  for (auto& worker : workers_) worker->change_dns(options, environment);
}

// Tunnels that should be opened are refused until this has worked.
void Server::prepare_opening() {
  if (shared_->interceptor() || !Opening::is_needed(editor_->policy().snapshot()->agents())) return;
  const auto opened = opening_.open_authority(settings().intercept);
  auto made = opened ? opening_.make_interceptor(settings().intercept)
                     : Result<std::shared_ptr<const intercept::Interceptor>>{opened.error()};
  if (made) {
    shared_->set_interceptor(std::move(*made));
  } else {
    log::error("tunnels cannot be opened and are refused: " + made.error().message);
  }
}

// Launchers ask before their agent exists, so it may not have been needed yet.
std::string Server::trusted_ca() {
  const auto opened = opening_.open_authority(settings().intercept);
  if (opened) return opening_.authority()->trusted();
  log::error(opened.error().message);
  return {};
}

void Server::settings_changed() {
  if (opening_.authority() != nullptr) {
    // The files of `trust` and the roots of the system may have changed.
    auto made = opening_.make_interceptor(settings().intercept);
    if (made) {
      shared_->set_interceptor(std::move(*made));
    } else {
      log::error("the old trust stays in force: " + made.error().message);
    }
  }
  const auto& audit = settings().audit;
  log_->set_bounds({audit.deny_on_failure, audit.max_bytes, audit.keep});
  dns_files_ = DnsFiles{settings().dns};
  change_dns();
  each_worker([limits = limits_of(settings().limits)](session::Context& context) {
    context.limits = limits;
  });
  const auto& agents = settings().agents;
  card_watch_.watch(agents.watch ? agents.directories : std::vector<std::string>{});
}

void Server::wait_for_signal() {
  signals_.async_wait([this](const boost::system::error_code& ec, int signal) {
    if (ec) return;
    on_signal(signal);
    wait_for_signal();
  });
}

void Server::on_signal(int signal) {
  const auto report = [this, signal, now = steady_clock::now()](bool is_done, std::string text) {
    if (front_.on_outcome) front_.on_outcome(signal, now, is_done, text);
  };
  switch (signal) {
    case SIGHUP:
      return editor_->reload(
          "signal HUP", [report](const control::Outcome<control::ReloadResult>& done) {
            report(done.has_value(),
                   done ? "reloaded: generation " + std::to_string(done->generation)
                        : "reload refused, the old rules stay in force:\n" + done.error().message);
          });
    case SIGUSR1: {
      const auto done = reopen_log();
      if (!done) log::error("audit: " + done.error().message);
      return report(done.has_value(), done ? "the log was reopened" : done.error().message);
    }
    default:
      return end_or_stop(was_told_to_end_);
  }
}

// `drain` may have come before: the second request of the same kind ends at once, not the first.
void Server::end_or_stop(bool& was_requested) {
  if (shared_->leaving || std::exchange(was_requested, true)) return stop();
  drain();
}

Result<audit::Log::Head> Server::reopen_log() {
  auto old = log_->reopen();
  if (old) {
    log::info(old->seq == 0 ? "audit: reopened"
                            : "audit: reopened; the old file ends" + place_of(*old));
  }
  return old;
}

void Server::drain() {
  if (shared_->leaving || shared_->draining.exchange(true)) return;
  notify("STOPPING=1\nSTATUS=draining");
  log::info("draining: new requests are refused; a second SIGTERM ends at once");
  each_worker([](session::Context& context) {
    for (auto it = context.live.begin(); it != context.live.end();) (it++)->drain();
  });
  drain_until_ = steady_clock::now() + settings().limits.drain_timeout;
  await_drained();
}

std::optional<milliseconds> Server::drain_time_left() const {
  if (!shared_->draining) return std::nullopt;
  const auto left = std::chrono::ceil<milliseconds>(drain_until_ - steady_clock::now());
  return std::max(left, milliseconds{0});
}

void Server::await_drained() {
  // A process before this one may still serve something, and has its lines written here.
  const bool is_drained = shared_->connections == 0 && !inheritance_;
  if (is_drained || steady_clock::now() >= drain_until_) return stop();
  drain_poll_.expires_after(milliseconds{20});
  drain_poll_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) await_drained();
  });
}

void Server::stop() { context_.stop(); }

}  // namespace stile::server
