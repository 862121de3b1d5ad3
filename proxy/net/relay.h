// Relay: moves bytes between two sockets, both ways, until both end; holds no buffer while idle.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "proxy/base/loop.h"
#include "proxy/net/frozen_relay.h"
#include "proxy/net/meter.h"
#include "proxy/net/pipe_pool.h"

namespace stile::net {

// Shared by all relays of a worker.
struct RelayResources {
  Loop& loop;
  PipePool pipes;
  std::array<char, 64 * 1024> buffer;
  PausedList paused{};  // relays that wait for more of a budget
};

class Relay : private Watcher, private Paused {
 public:
  enum class End : std::uint8_t { finished, failed, budget_spent };

  Relay(RelayResources& resources, SocketPtr client, SocketPtr origin);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  [[nodiscard]] std::uint64_t bytes_up() const noexcept { return up_.bytes; }
  [[nodiscard]] std::uint64_t bytes_down() const noexcept { return down_.bytes; }
  [[nodiscard]] SteadyTime last_byte() const noexcept { return last_byte_; }

 protected:
  ~Relay();
  // `first` and the `held` bytes that the filter keeps were read from the client before; both are
  // counted and charged here. The relay may have ended when this returns.
  void begin(std::string_view first, std::size_t held);
  // While filtered, every byte goes through filter() first, and nothing is spliced.
  void set_filtered(bool on) noexcept { is_filtered_ = on; }
  // Takes the sockets and everything in between out of the relay, which moves nothing any more.
  [[nodiscard]] FrozenRelay freeze() noexcept;
  // Continues where another relay was frozen. The sockets are already this one's; their events
  // start it.
  void resume(FrozenRelay& frozen);
  // How much was read and not sent, without what is in pipes.
  [[nodiscard]] std::size_t unsent_bytes() const noexcept;
  // Both sides see a reset, so that a cut stream does not look like a finished one.
  void reset_both() noexcept;
  // The client sees a reset now, and no more bytes move. Closing the sockets costs more and can
  // wait.
  void cut_client() noexcept;
  [[nodiscard]] Meter& meter_up() noexcept { return up_.meter; }
  [[nodiscard]] Meter& meter_down() noexcept { return down_.meter; }
  [[nodiscard]] Socket& client() noexcept { return *client_; }

 private:
  struct Direction {
    Meter meter;
    std::uint64_t bytes = 0;
    std::size_t debt = 0;  // bytes received before the relay began and not charged yet
    std::unique_ptr<std::string> unsent;  // copied out of the shared buffer
    std::unique_ptr<Pipe> pipe;
    std::int8_t small_reads = 0;  // in a row, while it splices
    bool is_bulk = false;         // the reads are large: splice, unless they are filtered
    bool is_over_budget = false;
    bool saw_end = false;
    bool sent_end = false;
  };
  enum class Step : std::uint8_t { again, wait, failed, budget_spent };

  // Called once, last. It must close the sockets (that is how the peer that is notified last learns
  // of the end), and may destroy the relay. It must always get this done.
  virtual void on_end(End end) noexcept = 0;
  // Bytes of the client (`up`) are sent on only as far as they are appended to `to_origin`; bytes
  // of the origin always go to the client, but may release held ones. False: end the relay as
  // failed.
  [[nodiscard]] virtual bool filter(bool up, std::string_view bytes, std::string& to_origin) = 0;
  void on_ready(Socket& socket) override;
  void on_refill() override { client_->call_again(); }  // queued like all others woken with it
  void move_on(Socket& socket);
  void freeze_direction(Direction& way, FrozenDirection& frozen) noexcept;
  static void resume_direction(Direction& way, FrozenDirection& frozen);
  [[nodiscard]] bool end_if_cut(Step step);
  [[nodiscard]] Step pump(Direction& way, Socket& from, Socket& to);
  [[nodiscard]] bool pay(Direction& way);
  [[nodiscard]] Step pause();
  [[nodiscard]] Step flush(Direction& way, Socket& to);
  [[nodiscard]] bool pass_filter(Direction& way, std::string_view& bytes);
  [[nodiscard]] Step copy(Direction& way, Socket& from, Socket& to, std::size_t& moved);
  [[nodiscard]] Step splice(Direction& way, Socket& from, Socket& to, std::size_t& moved);

  RelayResources& resources_;
  SocketPtr client_, origin_;
  Direction up_, down_;
  SteadyTime last_byte_;
  bool is_filtered_ = false;
};

}  // namespace stile::net
