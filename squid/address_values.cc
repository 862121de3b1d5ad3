// The values of `acl … src` and `acl … dst`.
#include "squid/address_values.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

namespace stile::squid {
namespace {

using acl::Address;
using Stretch = acl::AddressSet::Stretch;

const Stretch every_v4{Address::v4(0), Address::v4(0xffffffff)};

Stretch every_v6() {
  std::array<std::uint8_t, 16> ones;
  ones.fill(0xff);
  return {Address::v6({}), Address::v6(ones)};
}

// "24" or "255.255.255.0"; nullopt if it is neither.
std::optional<std::uint8_t> mask_length(std::string_view text, bool is_v4) {
  if (const auto mask = Address::parse(text); mask && mask->is_v4() && is_v4) {
    const std::uint32_t inverse = ~mask->v4_value();
    if ((inverse & (inverse + 1)) != 0) return std::nullopt;  // holes
    std::uint8_t length = 0;
    while (length < 32 && (mask->v4_value() << length & 0x80000000U) != 0) ++length;
    return length;
  }
  std::uint8_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  return is_number && length <= (is_v4 ? 32 : 128) ? std::optional{length} : std::nullopt;
}

// The prefix of that length that contains the address.
acl::Prefix prefix_around(const Address& address, std::uint8_t length) {
  if (address.is_v4()) {
    const std::uint32_t mask = length == 0 ? 0 : 0xffffffffU << (32 - length);
    return {Address::v4(address.v4_value() & mask), length};
  }
  auto bytes = address.v6_bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int bits = std::clamp(static_cast<int>(length) - static_cast<int>(i) * 8, 0, 8);
    bytes[i] = static_cast<std::uint8_t>(bytes[i] & (0xff00 >> bits));
  }
  return {Address::v6(bytes), length};
}

Error not_understood(std::string_view text, std::string_view why) {
  return {"'" + std::string{text} + "' " + std::string{why}};
}

Result<Stretch> parse_range(std::string_view text, std::size_t hyphen) {
  const auto first = Address::parse(text.substr(0, hyphen));
  const auto last = Address::parse(text.substr(hyphen + 1));
  if (!first || !last || first->is_v4() != last->is_v4()) {
    return not_understood(text, "is not a range of addresses, first-last");
  }
  if (*last < *first) return not_understood(text, "ends before it begins");
  return Stretch{*first, *last};
}

Result<Stretch> parse_prefix(std::string_view text, std::string& remark) {
  const std::size_t slash = text.find('/');
  const auto address = Address::parse(text.substr(0, slash));
  if (!address) {
    return not_understood(text, "is not an address; names are not looked up here");
  }
  if (slash == text.npos) return Stretch{*address, *address};
  const auto length = mask_length(text.substr(slash + 1), address->is_v4());
  if (!length) return not_understood(text, "has no valid mask");
  const acl::Prefix prefix = prefix_around(*address, *length);
  if (prefix.address != *address) {
    remark = "the mask of '" + std::string{text} + "' leaves " + prefix.text();
  }
  return Stretch{prefix.first(), prefix.last()};
}

}  // namespace

Result<Remark> AddressValues::add(std::string_view text) {
  std::string remark;
  std::vector<Stretch> values;
  if (text == "all" || text == "::/0") {
    values = {every_v4, every_v6()};
  } else if (text == "ipv4") {
    values = {every_v4};
  } else {
    const std::size_t hyphen = text.find('-');
    auto value = hyphen != text.npos ? parse_range(text, hyphen) : parse_prefix(text, remark);
    if (!value) return value.error();
    // squid stores IPv4 addresses in this part of IPv6.
    const acl::Prefix mapped{*Address::parse("::ffff:0:0"), 96};
    if (!value->first.is_v4() && value->first <= mapped.last() && value->second >= mapped.first()) {
      return not_understood(text, "covers IPv4-mapped addresses; write IPv4, or all");
    }
    values = {*value};
  }
  if (is_all_) return Remark{remark};
  // Of two overlapping values squid keeps the first and drops the other, even if the other is
  // wider. Anything else would allow more than squid does.
  for (const Stretch& value : values) {
    const Stretch* old = overlapping(value);
    if (old == nullptr) continue;
    const bool is_inside =
        values.size() == 1 && value.first >= old->first && value.second <= old->second;
    if (is_inside) return Remark{remark};
    return Remark{"'" + std::string{text} +
                  "' overlaps an earlier value of this acl; squid ignores it, and so does Stile"};
  }
  is_all_ = values.size() == 2;
  for (const Stretch& value : values) {
    by_first_.emplace(value.first, kept_.size());
    kept_.push_back(value);
  }
  return Remark{remark};
}

// One family sorts before the other, so ranges of different families never overlap.
const Stretch* AddressValues::overlapping(const Stretch& value) const {
  auto next = by_first_.upper_bound(value.second);  // the first that begins after it
  if (next == by_first_.begin()) return nullptr;
  const Stretch& last = kept_[std::prev(next)->second];
  return last.second < value.first ? nullptr : &last;
}

}  // namespace stile::squid
