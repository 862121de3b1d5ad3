// Numbers: card numbers, IBANs and addresses of wallets, with their checksums.
#include "scan/numbers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <string>

#include "base/ascii.h"
#include "scan/alphabet.h"
#include "scan/checksum.h"
#include "scan/stretch.h"
#include "scan/vectors.h"

namespace stile::scan {
namespace {

constexpr CharSet base62_characters{base62};

// Published by Stripe, PayPal, Adyen, Braintree and others for tests.
constexpr std::array<std::string_view, 30> test_cards{
    "4242424242424242", "4111111111111111", "4012888888881881", "4000056655665556",
    "5555555555554444", "5105105105105100", "2223003122003222", "5200828282828210",
    "378282246310005",  "371449635398431",  "378734493671000",  "6011111111111117",
    "6011000990139424", "3056930009020004", "30569309025904",   "38520000023237",
    "36227206271667",   "3566002020360505", "3530111333300000", "6200000000000005",
    "4000002500003155", "4000000000000002", "4000000000009995", "4000000000000077",
    "4000002760003184", "4000000000003220", "5454545454545454", "4222222222222",
    "5431111111111111", "4917610000000000"};
constexpr std::array<std::string_view, 6> test_ibans{
    "DE89370400440532013000",      "GB29NWBK60161331926819", "GB82WEST12345698765432",
    "FR1420041010050500013M02606", "GB33BUKB20201555555555", "NL91ABNA0417164300"};

struct Country {
  std::string_view code;
  std::size_t size;
};
// The register of IBANs (ISO 13616).
constexpr std::array<Country, 40> countries{{
    {"AT", 20}, {"BE", 16}, {"BG", 22}, {"CH", 21}, {"CY", 28}, {"CZ", 24}, {"DE", 22}, {"DK", 18},
    {"EE", 20}, {"ES", 24}, {"FI", 18}, {"FR", 27}, {"GB", 22}, {"GR", 27}, {"HR", 21}, {"HU", 28},
    {"IE", 22}, {"IL", 23}, {"IS", 26}, {"IT", 27}, {"LI", 21}, {"LT", 20}, {"LU", 20}, {"LV", 21},
    {"MC", 27}, {"MT", 31}, {"NL", 18}, {"NO", 15}, {"PL", 28}, {"PT", 25}, {"RO", 24}, {"RS", 22},
    {"SA", 24}, {"SE", 24}, {"SI", 19}, {"SK", 24}, {"SM", 27}, {"TR", 26}, {"UA", 29}, {"AE", 23},
}};

template <class List>
bool is_listed(const List& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// Which numbers the networks give out: how they begin, and how long they are.
bool is_of_a_network(std::string_view digits) {
  const int two = (digits[0] - '0') * 10 + digits[1] - '0';
  const int four = two * 100 + (digits[2] - '0') * 10 + digits[3] - '0';
  switch (digits.size()) {
    case 14:
      return two == 36 || two == 38 || (four >= 3000 && four <= 3059);  // Diners Club
    case 15:
      return two == 34 || two == 37;  // American Express
    case 16:
      return digits[0] == '4' || (two >= 51 && two <= 55) || (four >= 2221 && four <= 2720) ||
             four == 6011 || two == 65 || (four >= 6440 && four <= 6499) ||
             (four >= 3528 && four <= 3589) || two == 62;
    default:
      return false;
  }
}

// Numbers that people make up have few digits: 4444 4444 4444 4448.
bool has_variety(std::string_view digits) {
  constexpr std::size_t fewest = 4;
  return std::set<char>{digits.begin(), digits.end()}.size() >= fewest;
}

// `end` is the place after the number: a fraction or a part of a longer word is not a card.
bool is_card(std::string_view digits, std::string_view text, std::size_t end) {
  const bool goes_on = end < text.size() &&
                       (is_in(word, text[end]) ||
                        (text[end] == '.' && end + 1 < text.size() && is_in(digit, text[end + 1])));
  return !goes_on && is_of_a_network(digits) && passes_luhn(digits) && has_variety(digits) &&
         !is_listed(test_cards, digits);
}

// Digits alone, or in the groups that are printed on cards, with one kind of separator. A form
// sends a space as `+`.
bool is_card_at(std::string_view text, std::size_t at) {
  constexpr std::size_t most = 17;
  constexpr std::array<std::array<std::size_t, 4>, 3> layouts{
      {{4, 4, 4, 4}, {4, 6, 5, 0}, {4, 6, 4, 0}}};
  const std::size_t first = run_length(text, at, digit, most);
  if (first >= 14 && first < most) return is_card(text.substr(at, first), text, at + first);
  if (first != 4 || at + 4 >= text.size()) return false;
  const char separator = text[at + 4];
  if (separator != ' ' && separator != '-' && separator != '+') return false;
  return std::any_of(layouts.begin(), layouts.end(), [&](const auto& sizes) {
    std::string digits;
    std::size_t i = at;
    for (std::size_t group = 0; group < sizes.size() && sizes[group] > 0; ++group) {
      if (group > 0 && (i >= text.size() || text[i++] != separator)) return false;
      if (run_length(text, i, digit, most) != sizes[group]) return false;
      digits += text.substr(i, sizes[group]);
      i += sizes[group];
    }
    return is_card(digits, text, i);
  });
}

bool is_iban_at(std::string_view text, std::size_t at) {
  const auto country = std::find_if(countries.begin(), countries.end(), [&](const Country& one) {
    return text.substr(at, 2) == one.code;
  });
  if (country == countries.end()) return false;
  std::string iban;
  std::size_t i = at;
  for (; i < text.size() && iban.size() < country->size; ++i) {
    if (is_in(digit | upper, text[i])) {
      iban += text[i];
    } else if ((text[i] != ' ' && text[i] != '+') || iban.size() % 4 != 0) {
      return false;
    }
  }
  const bool ends = i == text.size() || !is_in(word, text[i]);
  return ends && iban.size() == country->size && is_in(digit, iban[2]) && is_in(digit, iban[3]) &&
         passes_mod_97(iban) && !is_listed(test_ibans, iban);
}

bool is_of_a_wallet(std::string_view data) {
  const char version = data.front();
  switch (data.size()) {
    case 21:
      return version == '\x00' || version == '\x05';
    case 33:
    case 34:
      return version == '\x80';
    default:
      return data.size() == 78;
  }
}

bool is_base58_secret_or_address(std::string_view run) {
  // An address has 25 bytes, a private key 33 or 34, an extended key 78.
  const bool has_size = (run.size() >= 26 && run.size() <= 35) || run.size() == 51 ||
                        run.size() == 52 || run.size() == 111;
  constexpr std::string_view beginnings = "13K5Lx";
  if (!has_size || beginnings.find(run[0]) == std::string_view::npos) return false;
  if (run.size() == 111 && !run.starts_with("xprv")) return false;
  return from_base58_check(run, is_of_a_wallet).has_value();
}

bool is_bech32_address(std::string_view run) {
  const bool is_bitcoin = run.starts_with("bc1") || run.starts_with("BC1");
  return is_bitcoin && (run.size() == 42 || run.size() == 62) && passes_bech32(run);
}

bool is_ethereum_address(std::string_view run) {
  if (run.size() != 42 || !run.starts_with("0x")) return false;
  const std::string_view digits = run.substr(2);
  if (run_length(digits, 0, hex, digits.size()) != digits.size()) return false;
  // Of one case there is no checksum: it may be any hash.
  const auto has = [&](std::uint16_t letters) {
    return std::any_of(digits.begin(), digits.end(), [&](char c) { return is_in(letters, c); });
  };
  return has(lower_af) && has(upper_af) && passes_eip55(digits);
}

// Whether four digits, or two capitals and two digits, are there: a card number or an IBAN may
// begin with them.
bool may_be_number(std::string_view text, std::size_t at) noexcept {
  if (text.size() - at < 4) return false;
  const bool has_digits = is_in(digit, text[at]) && is_in(digit, text[at + 1]);
  const bool has_capitals = is_in(upper, text[at]) && is_in(upper, text[at + 1]);
  return (has_digits || has_capitals) && is_in(digit, text[at + 2]) && is_in(digit, text[at + 3]);
}

#if defined(STILE_AVX2)
// Which of 64 characters are in a range, one bit each.
STILE_AVX2 std::uint64_t in_range(const char* at, char first, char last) noexcept {
  // Moves the first one to the least number, so that one comparison is enough.
  const __m256i shift = _mm256_set1_epi8(static_cast<char>(-128 - first));
  const __m256i most = _mm256_set1_epi8(static_cast<char>(-128 + last - first));
  const __m256i low = _mm256_add_epi8(load_32(at), shift);
  const __m256i high = _mm256_add_epi8(load_32(at + 32), shift);
  return ~mask_of(_mm256_cmpgt_epi8(low, most), _mm256_cmpgt_epi8(high, most));
}

// The first place before `to` at which may_be_number() holds and no digit is before it, or where
// fewer than 64 characters are left.
STILE_AVX2 std::size_t next_number_by_64(std::string_view text, std::size_t at,
                                         std::size_t to) noexcept {
  for (; at < to && at + 64 <= text.size(); at += 61) {
    const std::uint64_t digits = in_range(text.data() + at, '0', '9');
    const std::uint64_t after = digits >> 2U & digits >> 3U;
    if (after == 0) continue;
    const std::uint64_t before = digits << 1U | (at > 0 && is_in(digit, text[at - 1]) ? 1U : 0U);
    const std::uint64_t capitals = in_range(text.data() + at, 'A', 'Z');
    const std::uint64_t found =
        ((digits & digits >> 1U & ~before) | (capitals & capitals >> 1U)) & after;
    if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found));
  }
  return at;
}
#endif

// The first place from `at` on where a number may begin; at least `to` if there is none.
std::size_t next_number(std::string_view text, std::size_t at, std::size_t to) noexcept {
#if defined(STILE_AVX2)
  if (has_avx2()) at = next_number_by_64(text, at, to);
#endif
  while (at < to && !may_be_number(text, at)) ++at;
  return at;
}

}  // namespace

bool has_payment(std::string_view text, std::size_t from, std::size_t to) {
  for (std::size_t i = next_number(text, from, to); i < to; i = next_number(text, i + 1, to)) {
    const bool begins = i == 0 || !(is_in(word | dot, text[i - 1]));
    if (begins && (is_in(digit, text[i]) ? is_card_at(text, i) : is_iban_at(text, i))) return true;
  }
  return false;
}

bool has_wallet(std::string_view text, std::size_t from, std::size_t to) {
  constexpr std::size_t least = 26, most = 111;
  // A run that begins before this part and goes on in it belongs to it, too.
  const std::string_view part = text.substr(0, to + most + 1);
  std::size_t at = from - std::min(from, most + 1);
  for (;;) {
    const Stretch run = next_stretch(part, at, base62_characters, least);
    if (run.first >= to) return false;
    at = run.end;
    const bool begins = run.first == 0 || !is_in(base62, text[run.first - 1]);
    if (!begins || run.end - run.first > most) continue;
    const std::string_view word_of_it = text.substr(run.first, run.end - run.first);
    if (is_base58_secret_or_address(word_of_it) || is_bech32_address(word_of_it) ||
        is_ethereum_address(word_of_it)) {
      return true;
    }
  }
}

}  // namespace stile::scan
