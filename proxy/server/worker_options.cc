// Worker options from the config.
#include "proxy/server/worker_options.h"

#include <sched.h>

#include <algorithm>

namespace stile::server {

std::size_t worker_count(const config::ServerSettings& settings) {
  if (settings.workers > 0) return settings.workers;
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return static_cast<std::size_t>(std::max(1, CPU_COUNT(&cores)));
}

dns::ResolverOptions dns_options_of(const config::DnsSettings& settings) {
  return {settings.timeout, settings.max_ttl, settings.cache_entries, settings.in_flight_per_agent};
}

session::Limits limits_of(const config::LimitSettings& settings) {
  session::Limits limits;
  limits.connections = settings.connections;
  limits.connections_of_unknown = settings.connections_per_agent;
  limits.requests_of_unknown = settings.requests_per_second;
  limits.header_bytes = settings.header_bytes;
  limits.header_timeout = settings.header_timeout;
  limits.client_hello_timeout = settings.client_hello_timeout;
  limits.connect_timeout = settings.connect_timeout;
  limits.ask_hold = settings.ask_hold;
  limits.idle_timeout = settings.idle_timeout;
  return limits;
}

Worker::Options worker_options(const config::Settings& settings) {
  Worker::Options options;
  options.dns = dns_options_of(settings.dns);
  options.limits = limits_of(settings.limits);
  return options;
}

}  // namespace stile::server
