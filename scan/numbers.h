// Numbers: card numbers, IBANs and addresses of wallets, with their checksums. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace stile::scan {

// Both look at what begins in a part of a text.

// A card number or an IBAN. The numbers that documentation uses for tests are not counted.
[[nodiscard]] bool has_payment(std::string_view text, std::size_t from, std::size_t to);

// An address or a private key of a wallet: Bitcoin in Base58Check and Bech32, Ethereum with the
// checksum of EIP-55, extended private keys.
[[nodiscard]] bool has_wallet(std::string_view text, std::size_t from, std::size_t to);

}  // namespace stile::scan
