// Server, what goes on beside serving: the disk, files and addresses that change, signs of life.
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <chrono>

#include "proxy/base/log.h"
#include "proxy/server/host_addresses.h"
#include "proxy/server/server.h"

namespace stile::server {

namespace asio = boost::asio;

// Once a second: what waits for the disk, refusals that were counted, files that changed, and a
// sign of life.
void Server::housekeeping() {
  log_->retry();
  shared_->refusals.write_counted(*log_);
  look_at_log();
  card_watch_.look_again();
  if (dns_files_.changed()) {
    const auto dns = dns_files_.read();
    for (auto& worker : workers_) worker->change_dns(dns);
  }
  // The watchdog is told only while every worker answers: a stalled one gets the daemon restarted.
  if (alive_ >= workers_.size()) notify("WATCHDOG=1");
  alive_ = 0;
  each_worker([this](session::Context&) { asio::post(context_, [this] { ++alive_; }); });
  tick_.expires_after(std::chrono::seconds{1});
  tick_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) housekeeping();
  });
}

// A log that cannot be written is said once, wherever an operator looks, and again when it can.
void Server::look_at_log() {
  const auto news = log_health_.look(*log_);
  if (!news) return;
  if (news->is_failing) {
    log::error("audit: " + news->text);
    notify("STATUS=audit: " + news->text);
  } else {
    log::warning("audit: " + news->text);
    notify("STATUS=" + std::to_string(desk_->policy().agents().size()) + " agents");
  }
  service_->announce(*news);
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

}  // namespace stile::server
