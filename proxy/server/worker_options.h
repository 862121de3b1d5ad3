// What the config says to a worker, for whoever makes one: the daemon and `stile run`.
#pragma once

#include "config/settings.h"
#include "proxy/server/worker.h"

namespace stile::server {

[[nodiscard]] dns::Options dns_options_of(const config::DnsSettings& settings);
[[nodiscard]] session::Limits limits_of(const config::LimitSettings& settings);
// Of the config alone: who makes the worker adds the files and addresses of the moment.
[[nodiscard]] Worker::Options worker_options(const config::Settings& settings);

}  // namespace stile::server
