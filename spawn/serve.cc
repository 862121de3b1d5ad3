// serve: the program stile-spawner, put together.
#include "spawn/serve.h"

#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include <csignal>
#include <cstdio>
#include <memory>

#include "base/local_socket.h"
#include "base/program.h"
#include "base/system_error.h"
#include "spawn/manager.h"
#include "spawn/server.h"
#include "spawn/spawner.h"
#include "spawn/workspace.h"

namespace stile::spawn {
namespace {

constexpr int most_waiting_callers = 128;

using LoopPtr = std::unique_ptr<sd_event, decltype(&sd_event_unref)>;

Result<SpawnSettings> read(const SpawnerOptions& options) {
  auto settings =
      load_settings(options.config.value_or(default_config), !options.config.has_value());
  if (!settings) return Error{settings.error().text()};
  return Result<SpawnSettings>{boost::system::in_place_value, std::move(*settings)};
}

// The socket that systemd passed, or one of our own.
Result<UniqueFd> find_listener(const SpawnerOptions& options) {
  const int count = sd_listen_fds(1);
  if (count == 1) return UniqueFd{SD_LISTEN_FDS_START};
  if (count > 1) return Error{"systemd passed more than one socket"};
  // For users of the group.
  return listen_unix(options.socket, 0117, most_waiting_callers);
}

struct Reload {
  const SpawnerOptions* options;
  Spawner* spawner;
};

int on_hangup(sd_event_source* /*source*/, const signalfd_siginfo* /*info*/, void* userdata) {
  const auto& reload = *static_cast<const Reload*>(userdata);
  auto settings = read(*reload.options);
  if (settings) {
    reload.spawner->set_settings(std::move(*settings));
    std::fprintf(stderr, "stile-spawner: config read\n");
  } else {
    std::fprintf(stderr, "stile-spawner: config not changed: %s\n",
                 settings.error().message.c_str());
  }
  return 0;
}

Result<LoopPtr> make_loop() {
  sd_event* loop = nullptr;
  if (const int code = sd_event_new(&loop); code < 0) {
    return system_error("cannot make an event loop", -code);
  }
  return Result<LoopPtr>{boost::system::in_place_value, loop, sd_event_unref};
}

Result<void> handle_signals(sd_event* loop, Reload* reload) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&set, number);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  // Without a handler, a signal ends the loop.
  if (sd_event_add_signal(loop, nullptr, SIGTERM, nullptr, nullptr) < 0 ||
      sd_event_add_signal(loop, nullptr, SIGINT, nullptr, nullptr) < 0 ||
      sd_event_add_signal(loop, nullptr, SIGHUP, on_hangup, reload) < 0) {
    return Error{"cannot handle signals"};
  }
  return {};
}

}  // namespace

Result<void> check(const SpawnerOptions& options) {
  const auto settings = read(options);
  if (!settings) return settings.error();
  return {};
}

Result<void> serve(const SpawnerOptions& options) {
  auto settings = read(options);
  if (!settings) return settings.error();
  if (auto made = make_allowed(settings->allowed_workspaces); !made) return made;
  auto loop = make_loop();
  if (!loop) return loop.error();
  auto records = WorkerRecords::open(options.state);
  if (!records) return records.error();
  auto journal = Journal::open(options.log);
  if (!journal) return journal.error();
  auto manager = Manager::open(loop->get());
  if (!manager) return manager.error();
  Spawner spawner{{loop->get(), manager->get(), &*journal, std::move(*records),
                   program_directory() + "/stile-netns"},
                  std::move(*settings)};
  Reload reload{&options, &spawner};
  if (auto done = handle_signals(loop->get(), &reload); !done) return done;
  if (auto done = spawner.recover(); !done) return done;
  auto listener = find_listener(options);
  if (!listener) return listener.error();
  SpawnServer server{loop->get(), std::move(*listener),
                     [&](const Caller& peer, const std::string& text, const Reply& reply) {
                       spawner.serve(peer, text, reply);
                     }};
  if (auto done = server.start(); !done) return done;
  sd_notify(0, "READY=1");
  const int code = sd_event_loop(loop->get());
  if (code != 0) return Error{"the connection to systemd is lost"};
  return {};
}

}  // namespace stile::spawn
