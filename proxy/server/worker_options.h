// Worker options from the config, for the daemon and `stile run`.
#pragma once

#include <cstddef>

#include "config/settings.h"
#include "proxy/server/worker.h"

namespace stile::server {

// As many as configured, or one for each processor that this process may use.
[[nodiscard]] std::size_t worker_count(const config::ServerSettings& settings);
[[nodiscard]] dns::ResolverOptions dns_options_of(const config::DnsSettings& settings);
[[nodiscard]] session::Limits limits_of(const config::LimitSettings& settings);
// From the config alone: the caller adds the current files and addresses.
[[nodiscard]] Worker::Options worker_options(const config::Settings& settings);

}  // namespace stile::server
