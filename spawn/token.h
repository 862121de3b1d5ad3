// token: the secret of one worker, which proves that its holder spawned it.
#pragma once

#include <string>
#include <string_view>

namespace stile::spawn {

[[nodiscard]] std::string new_token();  // 256 bits, in hex

// `hash` is the SHA-256 that is kept in place of the token.
[[nodiscard]] bool is_token(std::string_view token, std::string_view hash);

}  // namespace stile::spawn
