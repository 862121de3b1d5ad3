// Report: a copy of one worker's counters.
#include "proxy/session/report.h"

#include <unordered_map>
#include <utility>

namespace stile::session {

Report report(const Context& context) {
  Report report;
  report.connect_times = context.connect_times;
  report.dns = context.resolver.counters();
  std::unordered_map<std::string, std::pair<std::uint64_t, std::uint64_t>> open_bytes;
  for (const Live& live : context.live) {
    ConnectionInfo info;
    if (!live.describe(info)) continue;
    auto& [up, down] = open_bytes[info.agent];
    up += info.bytes_up;
    down += info.bytes_down;
  }
  for (const auto& [id, tally] : context.tallies) {
    const auto [up, down] = open_bytes[id];
    report.agents.push_back({id, tally->tunnels_open, tally->connections_refused,
                             tally->bytes_up + up, tally->bytes_down + down, tally->tls_handshakes,
                             tally->secret_uses, tally->scan_hits});
    for (std::size_t method = 0; method < metrics::method_count; ++method) {
      if (!tally->requests[method]) continue;
      for (std::size_t verdict = 0; verdict < metrics::Tally::verdict_count; ++verdict) {
        for (std::size_t reason = 0; reason < acl::reason_count; ++reason) {
          const std::uint64_t count = (*tally->requests[method])[verdict][reason];
          if (count == 0) continue;
          report.requests.push_back({id, static_cast<metrics::Method>(method),
                                     static_cast<acl::Verdict>(verdict),
                                     static_cast<acl::Reason>(reason), count});
        }
      }
    }
  }
  return report;
}

}  // namespace stile::session
