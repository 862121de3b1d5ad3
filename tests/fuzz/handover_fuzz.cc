// Fuzzes what a daemon that takes over reads: messages, and the tunnels in them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/server/handover_message.h"
#include "proxy/session/frozen_tunnel.h"
#include "tests/fuzz/check.h"

namespace {

// At most six descriptors belong to a tunnel; exactly one number of them fits.
void try_tunnel(std::string_view bytes) {
  int fits = 0;
  for (std::size_t count = 0; count <= 8; ++count) {
    const auto tunnel = stile::session::unpack_tunnel(bytes, std::vector<stile::UniqueFd>(count));
    if (!tunnel) continue;
    ++fits;
    STILE_FUZZ_CHECK(stile::session::pack(*tunnel) == bytes);
    STILE_FUZZ_CHECK(stile::session::descriptors_of(*tunnel).size() == count);
  }
  STILE_FUZZ_CHECK(fits <= 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  try_tunnel(bytes);
  const auto message = stile::server::unpack_message(bytes);
  if (!message) return 0;
  STILE_FUZZ_CHECK(stile::server::pack(*message) == bytes);
  try_tunnel(message->text);
  return 0;
}
