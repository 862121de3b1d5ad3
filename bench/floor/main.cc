// floor: the smallest thing that can relay, without policy, log or DNS; what a proxy is measured
// by.
#include <csignal>

#include "bench/common/flags.h"
#include "bench/common/tls.h"
#include "bench/floor/sessions.h"

int main(int argc, char** argv) {
  using namespace stile::bench;
  const Flags flags(
      argc - 1, argv + 1,
      {"listen", "origin", "splice", "half-close", "refuse", "forward", "cert", "key", "trust"});
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));  // splice(2) has no MSG_NOSIGNAL
  raise_descriptor_limit();
  RelayOptions options;
  options.origin = endpoint(flags.text("origin", "127.0.0.2:9443"));
  options.splice = flags.has("splice");
  options.half_close = flags.has("half-close");
  options.refuse = flags.has("refuse");
  const bool forward = flags.has("forward");
  const bool terminate = flags.has("cert");
  TlsContext server;
  TlsContext client;
  TerminateOptions opened{options.origin, nullptr, nullptr};
  if (terminate) {
    server = tls_server(flags.text("cert"), flags.text("key"));
    client = tls_client(flags.text("trust"));
    opened.server = server.get();
    opened.client = client.get();
  }
  Reactor loop(endpoint(flags.text("listen", "127.0.0.1:3128")), [&](Reactor& self) {
    if (terminate) return make_terminator(self, opened);
    return forward ? make_forwarder(self, options.origin) : make_relay(self, options);
  });
  loop.run();
}
