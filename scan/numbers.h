// Numbers: card numbers, IBANs and addresses of wallets, with their checksums. Pure.
#pragma once

#include <string_view>

namespace stile::scan {

// A card number or an IBAN. The numbers that documentation uses for tests are not counted.
[[nodiscard]] bool has_payment(std::string_view text);

// An address or a private key of a wallet: Bitcoin in Base58Check and Bech32, Ethereum with the
// checksum of EIP-55, extended private keys.
[[nodiscard]] bool has_wallet(std::string_view text);

}  // namespace stile::scan
