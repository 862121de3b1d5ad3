// Server: the daemon as a whole: workers, signals, reload, metrics, drain.
#include "proxy/server/server.h"

#include <sched.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "proxy/base/clock.h"
#include "proxy/base/log.h"
#include "proxy/net/sockaddr.h"
#include "proxy/server/host_addresses.h"
#include "proxy/server/privileges.h"
#include "proxy/server/version.h"

namespace stile::server {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds, std::chrono::seconds, std::chrono::steady_clock;

std::size_t worker_count(std::uint32_t configured) {
  if (configured > 0) return configured;
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return static_cast<std::size_t>(std::max(1, CPU_COUNT(&cores)));
}

}  // namespace

Server::Server(PolicyStore store)
    : store_{std::move(store)},
      signals_{context_},
      tick_{context_},
      expiry_{context_},
      drain_poll_{context_},
      address_events_{context_},
      dns_files_{store_.settings().dns},
      started_{steady_clock::now()} {
  for (const int signal : {SIGHUP, SIGTERM, SIGINT, SIGUSR1}) signals_.add(signal);
}

Server::~Server() = default;

Result<void> Server::prepare() {
  if (auto done = bind(); !done) return done;
  if (auto done = drop_privileges(store_.settings().server.user); !done) return done;
  return open_log();
}

Result<void> Server::bind() {
  const auto& settings = store_.settings();
  auto passed = passed_listeners();
  if (!passed) return passed.error();
  listeners_ = std::move(*passed);
  const bool have_passed = !listeners_.empty();
  const std::size_t workers = worker_count(settings.server.workers);
  const auto open = [&](const config::Endpoint& endpoint,
                        std::optional<std::string> agent) -> Result<void> {
    auto listener = open_listener(endpoint, std::move(agent), workers);
    if (!listener) return listener.error();
    listeners_.push_back(std::move(*listener));
    return {};
  };
  if (!have_passed) {
    for (const auto& endpoint : settings.server.listen) {
      if (auto done = open(endpoint, {}); !done) return done;
    }
  }
  for (const auto& agent : settings.agent) {
    for (const auto& endpoint : agent.listen) {
      if (auto done = open(endpoint, agent.id); !done) return done;
    }
  }
  for (const Listener& listener : listeners_) {
    if (listener.address) listener_addresses_.push_back(*listener.address);
  }
  if (settings.server.metrics) {
    auto listener = open_listener(*settings.server.metrics, {}, 1);
    if (!listener) return listener.error();
    const auto protocol =
        settings.server.metrics->address.is_v4() ? asio::ip::tcp::v4() : asio::ip::tcp::v6();
    metrics_acceptor_.emplace(context_, protocol, listener->sockets[0].release());
    listener_addresses_.push_back(settings.server.metrics->address);
  }
  return {};
}

Result<void> Server::open_log() {
  const auto& settings = store_.settings().audit;
  audit::Log::Options options;
  options.path = settings.path;
  options.format =
      settings.format == config::AuditFormat::json ? audit::Format::json : audit::Format::squid;
  options.chain = settings.chain;
  options.deny_on_failure = settings.deny_on_failure;
  options.max_bytes = settings.max_bytes;
  options.keep = settings.keep;
  auto log = audit::Log::open(std::move(options));
  if (!log) return log.error();
  log_ = std::move(*log);
  log_->set_on_rotate([](const std::string& file, const audit::Log::Head& head) {
    log::info("audit: " + file + " ends at seq " + std::to_string(head.seq) + ", head " +
              head.hash);
  });
  return {};
}

session::Limits Server::limits() const {
  const auto& settings = store_.settings().limits;
  session::Limits limits;
  limits.connections = settings.connections;
  limits.connections_of_unknown = settings.connections_per_agent;
  limits.requests_of_unknown = settings.requests_per_second;
  limits.header_bytes = settings.header_bytes;
  limits.header_timeout = settings.header_timeout;
  limits.client_hello_timeout = settings.client_hello_timeout;
  limits.connect_timeout = settings.connect_timeout;
  limits.idle_timeout = settings.idle_timeout;
  return limits;
}

void Server::start_workers() {
  const auto& settings = store_.settings();
  Worker::Options options;
  options.count = worker_count(settings.server.workers);
  options.dns = {settings.dns.timeout, settings.dns.max_ttl, settings.dns.cache_entries,
                 settings.dns.in_flight_per_agent};
  options.dns_environment = dns_files_.read();
  options.limits = limits();
  options.own_addresses = own_addresses(listener_addresses_);
  for (; options.index < options.count; ++options.index) {
    workers_.push_back(std::make_unique<Worker>(*shared_, *log_, options));
  }
  for (Listener& listener : listeners_) {
    // A socket of its own for each worker; a single one (unix, systemd) is one worker's.
    for (std::size_t i = 0; i < listener.sockets.size(); ++i) {
      workers_[i]->listen(std::move(listener.sockets[i]), listener.agent);
    }
  }
  for (auto& worker : workers_) worker->start();
}

void Server::run() {
  audit::Record start;
  start.event = audit::Event::start;
  start.policy = store_.snapshot()->generation();
  start.version = version;
  start.config = store_.loaded().digest;
  write_line(start);
  shared_ = std::make_unique<session::Shared>(store_.snapshot());
  start_workers();
  if (metrics_acceptor_) {
    AdminHttp::Pages pages;
    pages.metrics = [this](auto done) { collect_metrics(std::move(done)); };
    pages.is_ready = [this] { return log_->healthy() && !shared_->draining; };
    admin_ = std::make_unique<AdminHttp>(context_, std::move(*metrics_acceptor_), std::move(pages));
  }
  wait_for_signal();
  watch_addresses();
  housekeeping();
  schedule_expiry();
  notify("READY=1\nSTATUS=" + std::to_string(store_.snapshot()->agents().size()) + " agents");
  context_.run();
  for (auto& worker : workers_) worker->stop();
  audit::Record stopped;
  stopped.event = audit::Event::stop;
  write_line(stopped);
  const auto head = log_->head();
  log::info("audit: stopped at seq " + std::to_string(head.seq) + ", head " + head.hash);
}

void Server::write_line(audit::Record record) {
  audit::Batch batch{log_->format()};
  record.time_us = unix_micros();
  batch.add(record);
  static_cast<void>(log_->write(batch));
}

void Server::each_worker(const std::function<void(session::Context&)>& work) {
  for (auto& worker : workers_) worker->post(work);
}

void Server::notify(const std::string& state) const { ::sd_notify(0, state.c_str()); }

void Server::wait_for_signal() {
  signals_.async_wait([this](const boost::system::error_code& ec, int signal) {
    if (ec) return;
    on_signal(signal);
    wait_for_signal();
  });
}

void Server::on_signal(int signal) {
  switch (signal) {
    case SIGHUP:
      return reload("signal HUP");
    case SIGUSR1:
      return reopen_log();
    default:
      return shared_->draining ? stop() : drain();
  }
}

void Server::reload(const std::string& actor) {
  const auto now = steady_clock::now().time_since_epoch();
  notify("RELOADING=1\nMONOTONIC_USEC=" +
         std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(now).count()));
  auto reloaded = store_.reload();
  audit::Record line;
  line.event = audit::Event::policy;
  line.policy = store_.snapshot()->generation();
  line.actor = actor;
  if (!reloaded) {
    ++reloads_failed_;
    log::error("reload refused, the policy in force stays:\n" + reloaded.error().text());
    line.verdict = acl::Verdict::deny;
    line.detail = "config-error";
    write_line(line);
    notify("READY=1\nSTATUS=reload refused: the config has errors");
    return;
  }
  ++reloads_ok_;
  last_reload_s_ = unix_micros() / 1'000'000;
  write_line(line);
  shared_->policy.swap(*reloaded);
  dns_files_ = DnsFiles{store_.settings().dns};
  each_worker([limits = limits(), dns = dns_files_.read()](session::Context& context) {
    context.limits = limits;
    context.resolver.change(dns);
    Worker::judge_again(context, false);
  });
  schedule_expiry();
  log::info("reloaded: generation " + std::to_string(store_.snapshot()->generation()) + ", " +
            std::to_string(store_.snapshot()->agents().size()) + " agents");
  notify("READY=1\nSTATUS=" + std::to_string(store_.snapshot()->agents().size()) + " agents");
}

void Server::reopen_log() {
  auto old = log_->reopen();
  if (!old) {
    log::error("audit: " + old.error().message);
    return;
  }
  log::info("audit: reopened; the old file ends at seq " + std::to_string(old->seq) + ", head " +
            old->hash);
}

void Server::drain() {
  shared_->draining = true;
  notify("STOPPING=1");
  log::info("draining; a second signal ends at once");
  each_worker([](session::Context& context) {
    for (auto it = context.live.begin(); it != context.live.end();) (it++)->drain();
  });
  drain_until_ = steady_clock::now() + store_.settings().limits.drain_timeout;
  await_drained();
}

void Server::await_drained() {
  if (shared_->connections == 0 || steady_clock::now() >= drain_until_) return stop();
  drain_poll_.expires_after(milliseconds{20});
  drain_poll_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) await_drained();
  });
}

void Server::stop() { context_.stop(); }

// Once a second: what waits for the disk, files that changed, and a sign of life.
void Server::housekeeping() {
  log_->retry();
  if (dns_files_.changed()) {
    each_worker(
        [dns = dns_files_.read()](session::Context& context) { context.resolver.change(dns); });
  }
  // The watchdog is told only while every worker answers: a stalled one gets the daemon restarted.
  if (alive_ >= workers_.size()) notify("WATCHDOG=1");
  alive_ = 0;
  each_worker([this](session::Context&) { asio::post(context_, [this] { ++alive_; }); });
  tick_.expires_after(seconds{1});
  tick_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) housekeeping();
  });
}

void Server::watch_addresses() {
  UniqueFd events = server::watch_addresses();
  if (!events) {
    log::warning("cannot watch the host's addresses; new ones are known after a reload");
    return;
  }
  address_events_.assign(events.release());
  refresh_addresses();
}

void Server::refresh_addresses() {
  each_worker([own = own_addresses(listener_addresses_)](session::Context& context) {
    context.own_addresses = own;
  });
  address_events_.async_wait(
      asio::posix::descriptor_base::wait_read, [this](const boost::system::error_code& ec) {
        if (ec) return;
        std::array<char, 8192> unread;
        boost::system::error_code ignored;
        address_events_.non_blocking(true, ignored);
        while (address_events_.read_some(asio::buffer(unread), ignored) > 0) {
        }
        refresh_addresses();
      });
}

// Time alone can turn a verdict; what is open then is closed without a reload.
void Server::schedule_expiry() {
  const auto next = store_.next_expiry(unix_micros());
  if (!next) {
    expiry_.cancel();
    return;
  }
  // The wall clock may be set: look again at least once a minute.
  const auto wait = std::chrono::microseconds{*next - unix_micros() + 1000};
  expiry_.expires_after(std::clamp<std::chrono::microseconds>(wait, milliseconds{1}, seconds{60}));
  expiry_.async_wait([this](const boost::system::error_code& ec) {
    if (ec) return;
    each_worker([](session::Context& context) { Worker::judge_again(context, true); });
    schedule_expiry();
  });
}

}  // namespace stile::server
