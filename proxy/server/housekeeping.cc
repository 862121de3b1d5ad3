// Server, periodic work: the disk, changing files and addresses, the watchdog.
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "base/unix_time.h"
#include "proxy/base/log.h"
#include "proxy/server/server.h"

namespace stile::server {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::milliseconds address_pause{100};
log::Throttle unread_secrets;

}  // namespace

// Once a second: lines that wait for the disk, counted refusals, changed files, and the watchdog.
void Server::housekeeping() {
  log_->retry();
  shared_->refusals.write_counted(*log_);
  look_at_log();
  if (addresses_are_stale_) refresh_addresses();
  card_watch_.look_again();
  if (dns_files_.changed()) change_dns();
  refresh_secrets();
  if (!shared_->leaving) shared_->names.tidy();  // otherwise the file is another process's
  // The watchdog is notified only while every worker answers: a stalled one gets the daemon
  // restarted.
  if (alive_ >= workers_.size()) notify("WATCHDOG=1");
  if (alive_ >= workers_.size()) watch_myself();
  alive_ = 0;
  each_worker([this](session::Context&) { asio::post(context_, [this] { ++alive_; }); });
  tick_.expires_after(std::chrono::seconds{1});
  tick_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) housekeeping();
  });
}

// A secret whose file changed is used from now on; one that cannot be read keeps its value.
void Server::refresh_secrets() {
  const auto& base = editor_->policy().base();
  for (const auto& problem : base.shared.secrets.refresh(base.loaded.owner, unix_micros())) {
    unread_secrets.warning(problem);
  }
}

// A failing log is reported once in each place where an operator looks, and again when it works.
void Server::look_at_log() {
  const auto news = log_health_.look(*log_);
  if (!news) return;
  if (news->is_failing) {
    log::error("audit: " + news->text);
    notify("STATUS=audit: " + news->text);
  } else {
    log::warning("audit: " + news->text);
    notify("STATUS=" + std::to_string(editor_->policy().agents().size()) + " agents");
  }
  service_->announce(*news);
}

// Before anything is served: without the list, services of this host would be open to agents.
Result<void> Server::find_addresses() {
  auto events = server::watch_addresses();
  if (!events) return events.error();
  auto opened = HostAddresses::open();
  if (!opened) return opened.error();
  address_events_.assign(events->release());
  host_addresses_.emplace(std::move(*opened));
  return {};
}

void Server::watch_addresses() {
  address_events_.async_wait(
      asio::posix::descriptor_base::wait_read, [this](const boost::system::error_code& ec) {
        if (ec) return;
        if (addresses_changed(address_events_.native_handle())) {
          refresh_addresses();
        }
        // A routing daemon may change a thousand routes a second.
        address_pause_.expires_after(address_pause);
        address_pause_.async_wait([this](const boost::system::error_code& stopped) {
          if (!stopped) watch_addresses();
        });
      });
}

// On failure the old list stays: an outdated list is better than none.
void Server::refresh_addresses() {
  const auto changed = host_addresses_->refresh();
  if (!changed) {
    if (!std::exchange(addresses_are_stale_, true)) {
      log::error(changed.error().message + "; the list from before still holds, trying again");
    }
    return;
  }
  if (std::exchange(addresses_are_stale_, false)) {
    log::info("the addresses of this host can be read again");
  }
  if (!*changed) return;
  each_worker([own = host_addresses_->with(listener_addresses_)](session::Context& context) {
    context.own_addresses = own;
  });
}

}  // namespace stile::server
