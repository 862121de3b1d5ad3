// Report: a copy of one worker's counters, for other threads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proxy/session/context.h"

namespace stile::session {

// The counters of one worker since it began; made on its thread, read elsewhere.
struct Report {
  struct Series {
    std::string agent;
    metrics::Method method;
    acl::Verdict verdict;
    acl::Reason reason;
    std::uint64_t count;
  };
  struct Agent {
    std::string id;
    std::uint64_t tunnels_open, connections_refused, bytes_up, bytes_down;
    decltype(metrics::Tally::tls_handshakes) tls_handshakes{};
    std::map<std::string, std::uint64_t> secret_uses{}, scan_hits{};
  };
  std::vector<Series> requests;
  std::vector<Agent> agents;
  metrics::ConnectTimes connect_times;
  dns::Counters dns;
};
[[nodiscard]] Report report(const Context& context);

}  // namespace stile::session
