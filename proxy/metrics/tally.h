// Tally: one worker's counters for one agent. Plain numbers: only that worker's thread touches
// them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "acl/decision.h"

namespace stile {
class Share;
}

namespace stile::metrics {

// Agents must not be able to create series: every method but these is `other`.
// `tcp` is a captured connection, `dns` a question to the name server.
enum class Method : std::uint8_t {
  connect,
  get,
  head,
  post,
  put,
  patch,
  del,
  options,
  tcp,
  dns,
  other
};
inline constexpr std::size_t method_count = 11;
[[nodiscard]] Method method_of(std::string_view name) noexcept;
[[nodiscard]] std::string_view text(Method method) noexcept;

enum class TlsSide : std::uint8_t { client, origin };

struct Tally {
  static constexpr std::size_t verdict_count = 3;
  using Row = std::array<std::array<std::uint64_t, acl::reason_count>, verdict_count>;

  void request(Method method, acl::Verdict verdict, acl::Reason reason) {
    auto& row = requests[static_cast<std::size_t>(method)];
    if (!row) row = std::make_unique<Row>();
    ++(*row)[static_cast<std::size_t>(verdict)][static_cast<std::size_t>(reason)];
  }

  void tls_handshake(TlsSide side, bool is_done) noexcept {
    ++tls_handshakes[static_cast<std::size_t>(side)][is_done ? 1 : 0];
  }

  std::string agent;                                        // "-": no agent
  std::array<std::unique_ptr<Row>, method_count> requests;  // made when first used
  std::uint64_t tunnels_open = 0;
  std::uint64_t connections_refused = 0;
  std::array<std::array<std::uint64_t, 2>, 2> tls_handshakes{};  // by side; failed, done
  std::map<std::string, std::uint64_t> secret_uses;              // by name, which the config sets
  std::map<std::string, std::uint64_t> scan_hits;                // by scan
  std::uint32_t origins_kept = 0;                                // idle connections to origins
  std::uint64_t bytes_up = 0, bytes_down = 0;
  std::shared_ptr<Share> share;  // of the worker's turns; the sockets keep it, too
};

// Seconds from the request to the connected origin.
struct ConnectTimes {
  static constexpr std::array<double, 12> bounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                 0.05,   0.1,   0.25,   0.5,   1,    10};
  void observe(double seconds) noexcept {
    std::size_t i = 0;
    while (i < bounds.size() && seconds > bounds[i]) ++i;
    ++counts[i];
    sum += seconds;
  }
  std::array<std::uint64_t, bounds.size() + 1> counts{};
  double sum = 0;
};

}  // namespace stile::metrics
