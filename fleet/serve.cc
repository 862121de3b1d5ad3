// serve: waits for the daemon, then follows the fleet; begins again when [fleet] changes.
#include "fleet/serve.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <exception>
#include <optional>
#include <utility>

#include "config/load.h"
#include "fleet/daemon_link.h"
#include "fleet/session.h"
#include "fleet/settings.h"
#include "proxy/base/log.h"

namespace stile::fleet {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds settings_interval{5}, daemon_interval{1};

enum class End : std::uint8_t { signal, settings_changed };

// One life with one [fleet].
class Life {
 public:
  Life(std::string path, config::FleetSettings settings, const DaemonLink& daemon)
      : path_{std::move(path)}, settings_{std::move(settings)}, daemon_{daemon} {}

  Result<End> run() {
    auto signers = read_signers(settings_);
    if (!signers) return signers.error();
    auto member = member_of(settings_);
    if (!member) return member.error();
    auto cluster = Cluster::open(settings_);
    if (!cluster) return cluster.error();
    signals_.async_wait([this](const boost::system::error_code& ec, int) {
      if (!ec) stop(End::signal);
    });
    look_at_settings();
    auto kept = wait_for_daemon();
    if (!kept) return end_;
    const DaemonLink& daemon = daemon_;
    Applier applier{std::move(*signers), std::move(*member), *kept,
                    [&daemon](const config::FleetState& state) { return daemon.hand_over(state); }};
    applier.settle(unix_micros());  // without objects whose signer is gone
    session_.emplace(context_, std::move(*cluster), applier, daemon_);
    std::exception_ptr failure;
    asio::co_spawn(context_, session_->run(), [&](const std::exception_ptr& problem) {
      failure = problem;
      stop(end_);
    });
    context_.run();
    session_.reset();
    if (failure) std::rethrow_exception(failure);
    return end_;
  }

 private:
  void stop(End why) {
    if (std::exchange(is_over_, true)) return;
    end_ = why;
    signals_.cancel();
    look_.cancel();
    if (session_) session_->stop();
  }

  // The objects that were accepted before: without them a store that was rolled back would count.
  std::optional<config::FleetState> wait_for_daemon() {
    bool is_first = true;
    while (!is_over_) {
      auto kept = daemon_.memory();
      if (kept) return std::move(*kept);
      if (std::exchange(is_first, false)) {
        log::warning("waiting for the daemon: " + kept.error().message);
      }
      asio::steady_timer pause{context_, daemon_interval};
      bool is_due = false;
      pause.async_wait([&](const boost::system::error_code&) { is_due = true; });
      while (!is_due && !is_over_) context_.run_one();
      pause.cancel();
      context_.poll();
    }
    return std::nullopt;
  }

  void look_at_settings() {
    look_.expires_after(settings_interval);
    look_.async_wait([this](const boost::system::error_code& ec) {
      if (ec || is_over_) return;
      const auto now = read_settings(path_);
      if (now && *now != settings_) {
        log::info("[fleet] has changed");
        return stop(End::settings_changed);
      }
      look_at_settings();
    });
  }

  std::string path_;
  config::FleetSettings settings_;
  const DaemonLink& daemon_;
  asio::io_context context_{1};
  asio::signal_set signals_{context_, SIGTERM, SIGINT};
  asio::steady_timer look_{context_};
  std::optional<StoreSession> session_;
  bool is_over_ = false;
  End end_ = End::signal;
};

}  // namespace

int serve(const ServeOptions& options) {
  const std::string path = options.config.empty() ? config::default_path : options.config;
  const DaemonLink daemon{options.socket};
  while (true) {
    auto settings = read_settings(path);
    if (!settings) {
      log::errors(settings.error().message);
      return 1;
    }
    if (settings->endpoints.empty()) {
      log::info("[fleet] has no endpoints: there is nothing to do");
      return 0;
    }
    const auto ended = Life{path, std::move(*settings), daemon}.run();
    if (!ended) {
      log::errors(ended.error().message);
      return 1;
    }
    if (*ended == End::signal) return 0;
  }
}

}  // namespace stile::fleet
