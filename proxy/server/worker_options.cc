// What the config says to a worker.
#include "proxy/server/worker_options.h"

namespace stile::server {

session::Limits limits_of(const config::LimitSettings& settings) {
  session::Limits limits;
  limits.connections = settings.connections;
  limits.connections_of_unknown = settings.connections_per_agent;
  limits.requests_of_unknown = settings.requests_per_second;
  limits.header_bytes = settings.header_bytes;
  limits.header_timeout = settings.header_timeout;
  limits.client_hello_timeout = settings.client_hello_timeout;
  limits.connect_timeout = settings.connect_timeout;
  limits.idle_timeout = settings.idle_timeout;
  return limits;
}

Worker::Options worker_options(const config::Settings& settings) {
  const auto& dns = settings.dns;
  Worker::Options options;
  options.dns = {dns.timeout, dns.max_ttl, dns.cache_entries, dns.in_flight_per_agent};
  options.limits = limits_of(settings.limits);
  return options;
}

}  // namespace stile::server
