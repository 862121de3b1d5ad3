// WorkersExchange: one request of a page or a program about workers, through the spawner's socket.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "web/client.h"
#include "web/control_link.h"
#include "web/spawn_batch.h"

namespace stile::web {

class WorkersExchange : public std::enable_shared_from_this<WorkersExchange> {
 public:
  WorkersExchange(boost::asio::io_context& context, ControlLink* spawner,
                  std::shared_ptr<WebClient> client)
      : spawner_{spawner}, client_{std::move(client)}, timer_{context} {}

  // `action` is one of the table of routes: spawn, active, status, one, stop, stop-all.
  void start(std::string_view action, const std::string& worker, const std::string& body);

 private:
  using Clock = std::chrono::steady_clock;

  void show_state();
  void pass_on(std::string_view action, const std::string& worker);
  void spawn_next();
  void try_spawn();
  void begin_stop_all(const std::optional<std::string>& tag);
  void stop_next();
  void note(const std::string& id, const std::string& answer);
  void finish();
  void fail(unsigned status, std::string_view code, std::string_view message);

  ControlLink* spawner_;     // null: there is none
  bool has_failed_ = false;  // for one worker at least
  std::shared_ptr<WebClient> client_;
  boost::asio::steady_timer timer_;
  SpawnBatch batch_;
  std::vector<std::string> ids_;
  std::size_t next_ = 0;
  Clock::time_point deadline_{};
  std::string rows_;  // answers, one for each worker
};

}  // namespace stile::web
