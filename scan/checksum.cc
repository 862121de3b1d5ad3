// Checksums that tokens, numbers of payment and addresses of wallets carry.
#include "scan/checksum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/ascii.h"
#include "base/sha256.h"

namespace stile::scan {
namespace {

constexpr auto crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1U) ^ ((value & 1U) != 0 ? 0xedb88320U : 0U);
    }
    table[i] = value;
  }
  return table;
}();

constexpr std::string_view base62_digits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view base58_digits =
    "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
constexpr auto base58_values = [] {
  std::array<std::int8_t, 256> table{};
  for (auto& value : table) value = -1;
  for (std::size_t i = 0; i < base58_digits.size(); ++i) {
    table[static_cast<unsigned char>(base58_digits[i])] = static_cast<std::int8_t>(i);
  }
  return table;
}();
constexpr std::string_view bech32_digits = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

std::string sha256_bytes(std::string_view bytes) {
  thread_local Sha256 sha256;
  const HexHash hash = sha256.hash(bytes);
  std::string raw;
  for (std::size_t i = 0; i < hash.size(); i += 2) {
    raw += static_cast<char>(hex_value(hash[i]) * 16 + hex_value(hash[i + 1]));
  }
  return raw;
}

std::uint32_t bech32_step(std::uint32_t sum, unsigned value) noexcept {
  constexpr std::array<std::uint32_t, 5> generator{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd,
                                                   0x2a1462b3};
  const std::uint32_t top = sum >> 25U;
  sum = ((sum & 0x1ffffffU) << 5U) ^ value;
  for (unsigned i = 0; i < 5; ++i) {
    if (((top >> i) & 1U) != 0) sum ^= generator[i];
  }
  return sum;
}

// Keccak-256 as it was before SHA-3, which is what Ethereum uses and OpenSSL 3.0 lacks.
using Keccak = std::array<std::uint64_t, 25>;

void permute(Keccak& a) noexcept {
  std::uint8_t lfsr = 1;
  for (int round = 0; round < 24; ++round) {
    std::array<std::uint64_t, 5> parity{};
    for (std::size_t i = 0; i < 25; ++i) parity[i % 5] ^= a[i];
    for (std::size_t i = 0; i < 25; ++i) {
      a[i] ^= parity[(i + 4) % 5] ^ std::rotl(parity[(i + 1) % 5], 1);
    }
    std::size_t x = 1, y = 0;
    std::uint64_t moved = a[1];
    for (int t = 0; t < 24; ++t) {
      const std::size_t next = (2 * x + 3 * y) % 5;
      x = y;
      y = next;
      moved = std::exchange(a[x + 5 * y], std::rotl(moved, ((t + 1) * (t + 2) / 2) % 64));
    }
    for (std::size_t row = 0; row < 25; row += 5) {
      std::array<std::uint64_t, 5> old{};
      std::copy_n(a.begin() + static_cast<std::ptrdiff_t>(row), 5, old.begin());
      for (std::size_t i = 0; i < 5; ++i) a[row + i] ^= ~old[(i + 1) % 5] & old[(i + 2) % 5];
    }
    for (unsigned j = 0; j < 7; ++j) {
      if ((lfsr & 1U) != 0) a[0] ^= std::uint64_t{1} << ((1U << j) - 1U);
      const unsigned next = unsigned{lfsr} << 1U;
      lfsr = static_cast<std::uint8_t>(next ^ ((lfsr >> 7U) != 0 ? 0x71U : 0U));
    }
  }
}

// Of at most 135 bytes.
Keccak keccak256(std::string_view bytes) noexcept {
  constexpr std::size_t rate = 136;
  Keccak state{};
  const auto put = [&](std::size_t at, unsigned char byte) {
    state[at / 8] ^= std::uint64_t{byte} << (8 * (at % 8));
  };
  for (std::size_t i = 0; i < bytes.size() && i < rate - 1; ++i) {
    put(i, static_cast<unsigned char>(bytes[i]));
  }
  put(std::min(bytes.size(), rate - 1), 0x01);
  put(rate - 1, 0x80);
  permute(state);
  return state;
}

}  // namespace

std::uint32_t crc32(std::string_view bytes) noexcept {
  std::uint32_t sum = 0xffffffffU;
  for (const char c : bytes) {
    sum = (sum >> 8U) ^ crc_table[(sum ^ static_cast<unsigned char>(c)) & 0xffU];
  }
  return ~sum;
}

std::string crc32_base62(std::string_view text) {
  std::uint32_t sum = crc32(text);
  std::string digits(6, '0');
  for (auto place = digits.rbegin(); place != digits.rend(); ++place) {
    *place = base62_digits[sum % 62];
    sum /= 62;
  }
  return digits;
}

bool passes_luhn(std::string_view digits) noexcept {
  int sum = 0;
  bool is_doubled = false;
  for (auto c = digits.rbegin(); c != digits.rend(); ++c, is_doubled = !is_doubled) {
    const int value = (*c - '0') * (is_doubled ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 == 0;
}

bool passes_mod_97(std::string_view iban) noexcept {
  if (iban.size() < 5) return false;
  unsigned rest = 0;
  const auto add = [&](char c) {
    if (is_digit(c)) {
      rest = (rest * 10 + static_cast<unsigned>(c - '0')) % 97;
    } else {
      rest = (rest * 100 + static_cast<unsigned>(c - 'A' + 10)) % 97;
    }
  };
  for (const char c : iban.substr(4)) add(c);
  for (const char c : iban.substr(0, 4)) add(c);
  return rest == 1;
}

std::optional<std::string> from_base58_check(std::string_view text,
                                             bool (*is_wanted)(std::string_view data)) {
  constexpr std::size_t longest = 120;  // an extended key has 111
  if (text.empty() || text.size() > longest) return std::nullopt;
  for (const char c : text) {
    if (base58_values[static_cast<unsigned char>(c)] < 0) return std::nullopt;
  }
  std::array<std::uint32_t, longest * 6 / 32 + 1> number{};  // the least significant part first
  std::size_t used = 0;
  for (const char c : text) {
    auto carry = static_cast<std::uint64_t>(base58_values[static_cast<unsigned char>(c)]);
    for (std::size_t i = 0; i < used; ++i) {
      carry += std::uint64_t{number[i]} * 58;
      number[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32U;
    }
    if (carry > 0) number[used++] = static_cast<std::uint32_t>(carry);
  }
  std::string bytes(std::min(text.find_first_not_of('1'), text.size()), '\0');  // 1 is a zero
  const std::size_t zeros = bytes.size();
  for (std::size_t i = 4 * used; i-- > 0;) {
    const auto byte = static_cast<char>(number[i / 4] >> (8 * (i % 4)));
    if (byte != 0 || bytes.size() > zeros) bytes += byte;
  }
  if (bytes.size() < 5) return std::nullopt;
  const std::string data = bytes.substr(0, bytes.size() - 4);
  if (!is_wanted(data)) return std::nullopt;
  if (sha256_bytes(sha256_bytes(data)).substr(0, 4) != bytes.substr(bytes.size() - 4)) {
    return std::nullopt;
  }
  return data;
}

bool passes_bech32(std::string_view text) noexcept {
  const std::size_t mark = text.rfind('1');
  if (mark == std::string_view::npos || mark == 0 || text.size() - mark < 7) return false;
  std::uint32_t sum = 1;
  for (const char c : text.substr(0, mark)) {
    sum = bech32_step(sum, static_cast<unsigned char>(to_lower(c)) >> 5U);
  }
  sum = bech32_step(sum, 0);
  for (const char c : text.substr(0, mark)) {
    sum = bech32_step(sum, static_cast<unsigned char>(to_lower(c)) & 31U);
  }
  for (const char c : text.substr(mark + 1)) {
    const std::size_t value = bech32_digits.find(to_lower(c));
    if (value == std::string_view::npos) return false;
    sum = bech32_step(sum, static_cast<unsigned>(value));
  }
  return sum == 1 || sum == 0x2bc830a3;  // BIP 173, BIP 350
}

bool passes_eip55(std::string_view forty_digits) noexcept {
  if (forty_digits.size() != 40) return false;
  std::array<char, 40> lower_digits{};
  std::transform(forty_digits.begin(), forty_digits.end(), lower_digits.begin(), to_lower);
  const Keccak hash = keccak256({lower_digits.data(), lower_digits.size()});
  bool has_letter = false;
  for (std::size_t i = 0; i < 40; ++i) {
    const char c = forty_digits[i];
    if (is_digit(c)) continue;
    has_letter = true;
    const std::uint64_t byte = hash[i / 16] >> (8 * (i / 2 % 8));
    const std::uint64_t nibble = i % 2 == 0 ? byte >> 4U & 15U : byte & 15U;
    if ((nibble >= 8) != (c >= 'A' && c <= 'F')) return false;
  }
  return has_letter;
}

}  // namespace stile::scan
