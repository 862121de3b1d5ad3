// The subcommands of the generator; each runs to its end and returns the exit status.
#pragma once

#include "bench/common/flags.h"

namespace stile::bench {

// Answers hellos, bulk commands and GETs until killed.
int run_origin(const Flags& flags);

// CONNECT and first exchange (or its refusal), many at a time.
int run_connect(const Flags& flags);

// Bytes through 1 or many tunnels, up or down.
int run_bulk(const Flags& flags);

// GETs of 1 KiB on kept connections.
int run_get(const Flags& flags);

// Opens tunnels, says so, keeps them until standard input ends, and tells how many were lost.
int run_hold(const Flags& flags);

// HTTP/1.1 over TLS, until killed.
int run_tls_origin(const Flags& flags);

// Requests inside opened tunnels: full or resumed handshakes, kept connections, bulk.
int run_tls_get(const Flags& flags);

}  // namespace stile::bench
