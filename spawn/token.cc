// token: the secret of one worker.
#include "spawn/token.h"

#include "base/random.h"
#include "base/sha256.h"

namespace stile::spawn {
namespace {

constexpr std::size_t token_bytes = 32;

}  // namespace

std::string new_token() { return random_hex(token_bytes); }

bool is_token(std::string_view token, std::string_view hash) {
  return token.size() == 2 * token_bytes && is_sha256_of(token, hash);
}

}  // namespace stile::spawn
