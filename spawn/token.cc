// token: the secret of one worker.
#include "spawn/token.h"

#include <cstdint>

#include "base/random.h"
#include "base/sha256.h"

namespace stile::spawn {
namespace {

constexpr std::size_t token_bytes = 32;

}  // namespace

std::string new_token() { return random_hex(token_bytes); }

std::string hash_of_token(std::string_view token) {
  return std::string{hash_text(Sha256{}.hash(token))};
}

bool is_token(std::string_view token, std::string_view hash) {
  const auto other = hash_of_token(token);
  if (hash.size() != other.size() || token.size() != 2 * token_bytes) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < hash.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<std::uint8_t>(hash[i] ^ other[i]));
  }
  return difference == 0;
}

}  // namespace stile::spawn
