// Server: what is opened before it serves: state, secrets, log, and then the sandbox.
#include <filesystem>
#include <utility>

#include "audit/rotate.h"
#include "base/unix_time.h"
#include "control/saved_state.h"
#include "proxy/base/log.h"
#include "proxy/server/privileges.h"
#include "proxy/server/sandbox.h"
#include "proxy/server/server.h"

namespace stile::server {
namespace {

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

constexpr const char* fleet_hint =
    "\nthe saved policy of the fleet cannot be used; correct the config, or move fleet.json in "
    "state_dir away to start without it";

}  // namespace

Result<void> Server::prepare() {
  if (auto done = bind(); !done) return done;
  if (auto done = find_addresses(); !done) return done;
  if (auto done = drop_privileges(settings().server.user); !done) return done;
  return open_editor();
}

// The state of the predecessor, which does not change from here on. If its log or its state is not
// the one of this config, it has to end first.
Result<std::optional<control::StateFile>> Server::inherit_state() {
  std::optional<control::StateFile> file;
  if (!predecessor_) return file;
  std::string differs;
  if (predecessor_->audit_settings() != audit_text()) {
    differs = "the settings of the audit log differ from those of the running daemon";
  }
  auto lock = inherited(SocketRole::state_lock);
  if (const auto& directory = settings().server.state_dir; !directory.empty() && !lock.empty()) {
    auto opened = control::StateFile::inherit(directory, std::move(lock[0]));
    if (opened) file.emplace(std::move(*opened));
    if (!opened && differs.empty()) differs = opened.error().message;
  }
  if (differs.empty()) {
    if (auto frozen = predecessor_->freeze(); !frozen) return frozen.error();
    return file;
  }
  file.reset();
  lock.clear();
  if (!predecessor_->is_of_restart()) return Error{differs + "; to change this, stop it first"};
  log::info(differs + ": waiting until that one has drained");
  if (auto gone = predecessor_->give_way(); !gone) return gone.error();
  predecessor_.reset();
  return file;
}

// The state is read before the log is opened, since it records where the log ended.
Result<void> Server::open_editor() {
  auto inherited_file = inherit_state();
  if (!inherited_file) return inherited_file.error();
  auto& file = *inherited_file;
  control::SavedState saved;
  if (const auto& directory = settings().server.state_dir; !directory.empty()) {
    if (!file) {
      auto opened = control::StateFile::open(directory);
      if (!opened) return opened.error();
      file.emplace(std::move(*opened));
    }
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

}  // namespace stile::server
