// Checksums that tokens, numbers of payment and addresses of wallets carry. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stile::scan {

[[nodiscard]] std::uint32_t crc32(std::string_view bytes) noexcept;
// The CRC-32 in base62, six characters: the end of tokens of GitHub and npm.
[[nodiscard]] std::string crc32_base62(std::string_view text);

[[nodiscard]] bool passes_luhn(std::string_view digits) noexcept;
// ISO 7064 mod 97-10, as in an IBAN without spaces.
[[nodiscard]] bool passes_mod_97(std::string_view iban) noexcept;

// The bytes without their checksum; nullopt: not Base58Check. Only of what is wanted the checksum
// is computed, since it is expensive.
[[nodiscard]] std::optional<std::string> from_base58_check(
    std::string_view text, bool (*is_wanted)(std::string_view data));
// Bech32 or Bech32m, lower or upper case, with `1` after the readable part.
[[nodiscard]] bool passes_bech32(std::string_view text) noexcept;
// EIP-55: the case of the 40 hexadecimal digits after 0x is a checksum.
[[nodiscard]] bool passes_eip55(std::string_view forty_digits) noexcept;

}  // namespace stile::scan
