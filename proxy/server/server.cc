// Server: the daemon as a whole: workers, signals, control, metrics, drain.
#include "proxy/server/server.h"

#include <malloc.h>
#include <sched.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <utility>

#include "audit/rotate.h"
#include "base/unix_time.h"
#include "control/saved_state.h"
#include "proxy/base/clock.h"
#include "proxy/base/log.h"
#include "proxy/server/privileges.h"
#include "proxy/server/sandbox.h"
#include "proxy/server/version.h"
#include "proxy/server/worker_options.h"

namespace stile::server {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds, std::chrono::steady_clock;

std::size_t worker_count(std::uint32_t configured) {
  if (configured > 0) return configured;
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return static_cast<std::size_t>(std::max(1, CPU_COUNT(&cores)));
}

// A worker that opens TLS or scans allocates and frees some 100 KiB in each turn. By default malloc
// returns that to the kernel, and each page is faulted in and cleared again.
void keep_freed_buffers() {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 2 << 20);
}

// An unreadable state may contain what must stay closed: then nothing is served.
Result<control::SavedState> read_state(const control::StateFile& file) {
  const auto text = file.read();
  if (!text) return text.error();
  if (!*text) return control::SavedState{};
  auto state = control::parse_state(**text, file.path());
  if (!state) {
    return Error{state.error().message + "\nthe state cannot be used; repair it, or move " +
                 file.path() + " away to start without grants, revocations and modes"};
  }
  return state;
}

std::vector<int> raw(const std::vector<UniqueFd>& descriptors) {
  std::vector<int> all;
  for (const auto& fd : descriptors) all.push_back(fd.get());
  return all;
}

constexpr const char* fleet_hint =
    "\nthe saved policy of the fleet cannot be used; correct the config, or move fleet.json in "
    "state_dir away to start without it";

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

Result<void> Server::prepare() {
  if (auto done = bind(); !done) return done;
  if (auto done = find_addresses(); !done) return done;
  if (auto done = drop_privileges(settings().server.user); !done) return done;
  return open_editor();
}

Result<void> Server::bind() {
  auto passed = passed_sockets(settings().server);
  if (!passed) return passed.error();
  listeners_ = std::move(passed->listeners);
  inherit_passed(passed->control, passed->capture);
  const bool have_passed = !listeners_.empty();
  auto control = bind_control(settings().server, std::move(passed->control));
  if (!control) return control.error();
  control_sockets_ = std::move(*control);
  const std::size_t workers = worker_count(settings().server.workers);
  const auto open = [&](const config::Endpoint& endpoint, std::optional<std::string> agent,
                        const UnixAccess& access = {}) -> Result<void> {
    if (inherit_listener(endpoint, agent)) return {};
    auto listener = open_listener(endpoint, std::move(agent), workers, access);
    if (!listener) return listener.error();
    listeners_.push_back(std::move(*listener));
    return {};
  };
  if (!have_passed) {
    for (const auto& endpoint : settings().server.listen) {
      if (auto done = open(endpoint, {}); !done) return done;
    }
  }
  for (const auto& [id, entry] : store_.base->entries) {
    for (const auto& endpoint : entry->settings.listen) {
      const UnixAccess access{entry->settings.listen_mode, entry->settings.listen_group};
      if (auto done = open(endpoint, id, access); !done) return done;
    }
  }
  for (const Listener& listener : listeners_) {
    if (listener.address) listener_addresses_.push_back(*listener.address);
  }
  if (auto done = bind_capture(std::move(passed->capture), workers); !done) return done;
  if (const auto& metrics = settings().server.metrics) {
    auto sockets = inherited(SocketRole::metrics, metrics->text());
    if (sockets.empty()) {
      auto listener = open_listener(*metrics, {}, 1);
      if (!listener) return listener.error();
      sockets = std::move(listener->sockets);
    }
    const auto protocol = metrics->address.is_v4() ? asio::ip::tcp::v4() : asio::ip::tcp::v6();
    metrics_acceptor_.emplace(context_, protocol, sockets[0].release());
    listener_addresses_.push_back(metrics->address);
  }
  return {};
}

// Only a daemon that serves the fence has agents whose traffic is captured. Without the sockets
// these agents still have the proxy, so it is served all the same.
Result<void> Server::bind_capture(CaptureSockets passed, std::size_t workers) {
  const auto& netns = settings().netns;
  if (!netns.capture) return {};
  const auto& known = listener_addresses_;
  is_of_fence_ =
      !passed.is_empty() || std::find(known.begin(), known.end(), netns.gateway) != known.end();
  if (!passed.is_empty()) {
    capture_ = std::move(passed);
    return share_listener(capture_, workers);
  }
  if (!is_of_fence_) return {};
  auto opened = open_capture(netns, workers);
  if (opened) {
    capture_ = std::move(*opened);
  } else {
    log::error(
        "programs that know no proxy are not served: " + opened.error().message +
        "; stile-netns create and stile-netns repair hand the sockets over; or start stiled with "
        "stiled-capture.socket or as root, or set netns.capture = false");
  }
  return {};
}

// The policy that the fleet had last holds until stile-fleet hands over another one.
Result<void> Server::read_fleet(const control::StateFile& file, config::FleetState& fleet) {
  const auto text = file.read_fleet();
  if (!text) return text.error();
  if (!*text) return {};
  auto state = config::parse_fleet(**text);
  if (!state) return Error{state.error().message + fleet_hint};
  fleet = std::move(*state);
  if (fleet.layer.policies.empty()) return {};
  auto base = control::read_file_policy(store_.reader, fleet.layer);
  if (!base) return Error{base.error().text() + fleet_hint};
  store_.base = std::move(*base);
  return {};
}

// The state is read before the log is opened, since it records where the log ended.
Result<void> Server::open_editor() {
  std::optional<control::StateFile> file;
  control::SavedState saved;
  if (predecessor_) {
    if (predecessor_->audit_settings() != audit_text()) {
      return Error{
          "the settings of the audit log differ from those of the running daemon; to change "
          "them, stop it first"};
    }
    if (auto frozen = predecessor_->freeze(); !frozen) return frozen.error();
  }
  if (const auto& directory = settings().server.state_dir; !directory.empty()) {
    auto lock = inherited(SocketRole::state_lock);
    auto opened = lock.empty() ? control::StateFile::open(directory)
                               : control::StateFile::inherit(directory, std::move(lock[0]));
    if (!opened) return opened.error();
    file.emplace(std::move(*opened));
    auto read = read_state(*file);
    if (!read) return read.error();
    saved = std::move(*read);
    if (auto done = read_fleet(*file, saved.fleet); !done) return done;
  }
  if (auto done = prepare_secrets(); !done) return done;
  if (auto done = open_log(saved); !done) return done;
  if (store_.base->opens_tunnels()) {
    // An operator who asked for it gets no daemon that cannot do it.
    if (auto done = opening_.open_authority(settings().intercept); !done) return done;
    const auto tried = opening_.make_interceptor(settings().intercept);
    if (!tried) return tried.error();
  }
  if (auto done = confine(); !done) return done;
  editor_ = std::make_unique<control::PolicyEditor>(
      context_, store_.reader, control::LivePolicy{std::move(store_.base), saved}, std::move(file),
      saved.fleet);
  asks_.restore(saved.asks, editor_->policy());
  return {};
}

// Commands of secrets are run by a process that is forked here, before the CA is opened.
Result<void> Server::prepare_secrets() {
  const auto& secrets = store_.base->shared.secrets;
  if (auto done = secrets_.start_helper(secrets); !done) return done;
  // They were read before privileges were dropped. What only root can read would never be read
  // again, and a changed value never be used.
  const auto unread = secrets.refresh(store_.base->loaded.owner, unix_micros());
  if (!unread.empty()) {
    const std::string& user = settings().server.user;
    return Error{unread.front() + "; the daemon has to read it again when it changes" +
                 (user.empty() ? "" : ", as user " + user) +
                 "; give it access, as in: chown root:GROUP FILE && chmod 640 FILE"};
  }
  config::Diagnostics problems;
  secrets_.fill(secrets, problems);
  if (problems.has_errors()) return Error{problems.text()};
  store_.reader = [this, read = store_.reader](
                      const config::FleetLayer& fleet) -> config::Checked<control::Reading> {
    auto reading = read(fleet);
    if (!reading) return reading;
    config::Diagnostics unusable;
    secrets_.fill(reading->shared->secrets, unusable);
    if (unusable.has_errors()) return unusable;
    return reading;
  };
  return {};
}

// After everything that needs more rights is open, and before the first thread is started.
Result<void> Server::confine() {
  std::vector<std::string> writable = front_.writable_directories;
  writable.push_back(settings().server.state_dir);
  writable.push_back(settings().intercept.ca);
  if (const std::filesystem::path log{settings().audit.path}; log != "-") {
    // Both names of the log's folder: it may be a symbolic link, and rotation uses the name.
    std::error_code ignored;
    writable.push_back(std::filesystem::absolute(log, ignored).parent_path());
    writable.push_back(std::filesystem::canonical(log, ignored).parent_path());
  }
  if (auto confined = confine_process(writable); !confined) return confined;
  file_thread_ = std::make_unique<FileThread>();
  secrets_.start();
  log_->set_rotator([this](const std::string& path, std::uint32_t keep) {
    std::optional<Result<audit::File>> rotated;
    file_thread_->run([&] { rotated.emplace(audit::rotate(path, keep)); });
    return std::move(*rotated);
  });
  return {};
}

Result<void> Server::open_log(const control::SavedState& saved) {
  const auto& audit = settings().audit;
  audit::Log::Options options;
  options.path = audit.path;
  options.format =
      audit.format == config::AuditFormat::json ? audit::Format::json : audit::Format::squid;
  if (!audit.lines.empty()) {
    auto lines = audit::LogFormat::compile(audit.lines);
    if (!lines) return lines.error();
    options.lines = std::make_shared<audit::LogFormat>(std::move(*lines));
  }
  options.chain = audit.chain;
  options.deny_on_failure = audit.deny_on_failure;
  options.max_bytes = audit.max_bytes;
  options.keep = audit.keep;
  options.resume = {saved.audit_seq, saved.audit_hash};
  auto handed = inherited(SocketRole::audit_log);
  auto log = predecessor_ ? audit::Log::inherit(std::move(options),
                                                handed.empty() ? UniqueFd{} : std::move(handed[0]))
                          : audit::Log::open(std::move(options));
  if (!log) return log.error();
  log_ = std::move(*log);
  log_->set_on_rotate([](const std::string& file, const audit::Log::Head& head) {
    log::info("audit: " + file + " ends at seq " + std::to_string(head.seq) + ", head " +
              head.hash);
  });
  return {};
}

void Server::start_workers() {
  keep_freed_buffers();
  Worker::Options options = worker_options(settings());
  options.count = worker_count(settings().server.workers);
  options.dns_environment = dns_files_.read();
  options.own_addresses = host_addresses_->with(listener_addresses_);
  for (; options.index < options.count; ++options.index) {
    workers_.push_back(std::make_unique<Worker>(*shared_, *log_, options));
  }
}

// Each worker gets its own socket; a single one (unix, systemd) belongs to one worker. A process
// before this one may have had more workers, or fewer.
void Server::open_doors() {
  for (Listener& listener : listeners_) {
    const bool is_passed = listener.name.starts_with(from_systemd);
    const auto role =
        is_passed ? listener.agent ? SocketRole::passed_agent_listener : SocketRole::passed_listener
        : listener.agent ? SocketRole::agent_listener
                         : SocketRole::listener;
    offer(role, listener.name, listener.agent.value_or(""), raw(listener.sockets));
    for (std::size_t i = 0; i < listener.sockets.size(); ++i) {
      workers_[i % workers_.size()]->listen(std::move(listener.sockets[i]), listener.agent);
    }
  }
  give_capture(std::move(capture_));
}

void Server::give_capture(CaptureSockets sockets) {
  has_captured_connections_ |= !sockets.connections.empty();
  has_questions_ |= !sockets.questions.empty();
  offer(SocketRole::captured_connections, "", "", raw(sockets.connections));
  offer(SocketRole::questions, "", "", raw(sockets.questions));
  for (std::size_t i = 0; i < sockets.connections.size(); ++i) {
    workers_[i % workers_.size()]->capture(std::move(sockets.connections[i]), {},
                                           settings().netns.gateway);
  }
  for (std::size_t i = 0; i < sockets.questions.size(); ++i) {
    workers_[i % workers_.size()]->answer_questions(std::move(sockets.questions[i]), {});
  }
}

// For a daemon that was started without the right to open these sockets.
Result<void> Server::serve_captured(UniqueFd socket) {
  if (!is_of_fence_) return Error{"the daemon does not listen on the gateway of the fence"};
  if (shared_->draining) return Error{"the daemon is draining"};
  CaptureSockets sockets;
  if (auto added = add_passed(sockets, std::move(socket)); !added) return added;
  const bool is_there = sockets.questions.empty() ? has_captured_connections_ : has_questions_;
  if (is_there) return Error{"the daemon has this socket already"};
  if (auto done = share_listener(sockets, workers_.size()); !done) return done;
  give_capture(std::move(sockets));
  return {};
}

std::optional<bool> Server::is_capturing() const {
  if (!is_of_fence_) return std::nullopt;
  return has_captured_connections_ && has_questions_;
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
    for (auto& worker : workers_) worker->judge_again(false);
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
    AdminHttp::Pages pages;
    pages.metrics = [this](auto done) { collect_metrics(std::move(done)); };
    pages.is_ready = [this] { return log_->healthy() && !shared_->draining; };
    admin_ = std::make_unique<AdminHttp>(context_, std::move(*metrics_acceptor_), std::move(pages));
    offer(SocketRole::metrics, settings().server.metrics->text(), "", {admin_->listener()});
  }
  wait_for_signal();
  watch_addresses();
  housekeeping();
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
    log::info("audit: stopped at seq " + std::to_string(head.seq) + ", head " + head.hash);
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
  if (!shared_->leaving) ::sd_notify(0, state.c_str());
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
      if (shared_->leaving) return stop();
      // `drain` may have come before: the second signal ends at once, not the first.
      return std::exchange(was_told_to_end_, true) ? stop() : drain();
  }
}

Result<audit::Log::Head> Server::reopen_log() {
  auto old = log_->reopen();
  if (old) {
    log::info("audit: reopened; the old file ends at seq " + std::to_string(old->seq) + ", head " +
              old->hash);
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
  if (shared_->connections == 0 || steady_clock::now() >= drain_until_) return stop();
  drain_poll_.expires_after(milliseconds{20});
  drain_poll_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) await_drained();
  });
}

void Server::stop() { context_.stop(); }

}  // namespace stile::server
