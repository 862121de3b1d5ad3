// token: the secret of one worker, which proves that its holder spawned it.
#pragma once

#include <string>
#include <string_view>

namespace stile::spawn {

[[nodiscard]] std::string new_token();                            // 256 bits, in hex
[[nodiscard]] std::string hash_of_token(std::string_view token);  // what is kept

// Takes the same time wherever the two differ.
[[nodiscard]] bool is_token(std::string_view token, std::string_view hash);

}  // namespace stile::spawn
