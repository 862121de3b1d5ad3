// The client's side of one tunnel: dials, asks for CONNECT, sends the hello, waits for the answer.
#pragma once

#include <string>
#include <string_view>

#include "bench/common/flags.h"
#include "bench/load/loop.h"
#include "bench/load/report.h"

namespace stile::bench {

constexpr std::size_t reply_bytes = 1024;  // what the origin answers to a hello

// Where to and as whom; the same for all tunnels of a run.
struct Way {
  explicit Way(const Flags& flags);

  sockaddr_in proxy{};
  bool direct = false;   // no CONNECT: `proxy` is the origin
  bool refused = false;  // 403 is what is wanted
  std::string head;
  std::string hello;
  unsigned sources = 1;
};

class Tunnel : public Watcher {
 public:
  Tunnel(Loop& loop, const Way& way) : loop_(loop), way_(way) {}

  void begin(unsigned source);
  void close();
  [[nodiscard]] bool is_open() const { return phase_ == Phase::open; }
  [[nodiscard]] bool is_busy() const { return phase_ != Phase::closed; }
  [[nodiscard]] Clock::time_point begun() const { return begun_; }

  void on_ready(std::uint32_t events) final;

 protected:
  ~Tunnel() = default;
  // The hello is answered, or the refusal has come.
  virtual void on_open() = 0;
  virtual void on_failed(std::string_view why) = 0;
  // Something happened on an open tunnel.
  virtual void on_traffic(std::uint32_t events) = 0;

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] Loop& loop() { return loop_; }

 private:
  enum class Phase { closed, dialling, head, reply, open };

  void send(std::string_view bytes, Phase next);
  void read_head();
  void read_reply();
  void fail(std::string_view why);

  Loop& loop_;
  const Way& way_;
  Fd fd_;
  Phase phase_ = Phase::closed;
  Clock::time_point begun_;
  std::string answer_;
  std::size_t replied_ = 0;
};

}  // namespace stile::bench
