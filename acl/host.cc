// Canonical host names: the IP-literal test, then LDH syntax.
#include "acl/host.h"

#include <algorithm>

#include "base/ascii.h"

namespace stile::acl {
namespace {

constexpr bool is_hex(char c) noexcept { return hex_value(c) >= 0; }

// The classes of a byte in a host.
constexpr unsigned foreign = 1;     // not allowed in a name
constexpr unsigned of_literal = 2;  // only in an address
constexpr unsigned underscore = 4;

struct ByteClass {
  std::uint8_t marks = foreign;
  char canonical = 0;
};

constexpr std::array<ByteClass, 256> make_byte_classes() {
  std::array<ByteClass, 256> classes{};
  const auto take = [&](char raw, char canonical, std::uint8_t marks = 0) {
    classes[static_cast<unsigned char>(raw)] = {marks, canonical};
  };
  for (char c = 'a'; c <= 'z'; ++c) {
    take(c, c);
    take(static_cast<char>(c - 'a' + 'A'), c);
  }
  for (char c = '0'; c <= '9'; ++c) take(c, c);
  take('-', '-');
  take('.', '.');
  take('_', '_', underscore);
  for (const char c : {'[', ']', ':'}) take(c, 0, foreign | of_literal);
  return classes;
}
constexpr auto byte_classes = make_byte_classes();

ByteClass class_of(char c) noexcept { return byte_classes[static_cast<unsigned char>(c)]; }

unsigned marks_of(std::string_view text) noexcept {
  unsigned marks = 0;
  for (const char c : text) marks |= class_of(c).marks;
  return marks;
}

// inet_aton and URL parsers treat a text as an IPv4 address if its last label is a number: decimal,
// octal, or hex. URL parsers read "0x" alone as zero.
bool last_label_is_number(std::string_view name) noexcept {
  const std::size_t dot = name.rfind('.');
  std::string_view label = dot == std::string_view::npos ? name : name.substr(dot + 1);
  if (label.empty()) return false;
  if (std::all_of(label.begin(), label.end(), is_digit)) return true;
  if (!label.starts_with("0x") && !label.starts_with("0X")) return false;
  label.remove_prefix(2);
  return std::all_of(label.begin(), label.end(), is_hex);
}

// The only accepted spelling of an address: a strict dotted quad, or strict IPv6 in exactly one
// pair of brackets.
std::optional<Address> strict_literal(std::string_view raw) noexcept {
  if (!raw.starts_with('[')) {
    return raw.find(':') == std::string_view::npos ? Address::parse(raw) : std::nullopt;
  }
  if (!raw.ends_with(']')) return std::nullopt;
  raw.remove_prefix(1);
  raw.remove_suffix(1);
  const auto address = Address::parse(raw);
  return address && !address->is_v4() ? address : std::nullopt;
}

// The result of one pass over a text of at most Host::max_length bytes.
struct Scan {
  unsigned marks = 0;
  std::size_t labels = 0;
  std::array<std::uint8_t, Host::max_length + 1> ends;  // of the labels
};

// Writes the canonical bytes to `out`. It does not branch on the bytes: the positions of the dots
// cannot be predicted, and a misprediction costs more than one store per byte. `ends` cannot
// overflow: there is at most one end per byte and one after the last.
void scan(std::string_view name, char* out, Scan& found) noexcept {
  const char* const in = name.data();
  const std::size_t size = name.size();
  std::uint8_t* const ends = found.ends.data();
  std::size_t count = 0;
  unsigned marks = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const ByteClass c = class_of(in[i]);
    marks |= c.marks;
    out[i] = c.canonical;
    ends[count] = static_cast<std::uint8_t>(i);
    count += c.canonical == '.' ? 1U : 0U;
  }
  ends[count] = static_cast<std::uint8_t>(size);
  found.labels = count + 1;
  found.marks = marks;
}

// 1 to 63 bytes without a hyphen at the ends.
bool labels_are_good(std::string_view name, const Scan& found) noexcept {
  std::size_t start = 0;
  for (std::size_t i = 0; i < found.labels; ++i) {
    const std::size_t end = found.ends[i];
    if (end == start || end - start > Host::max_label) return false;
    if (name[start] == '-' || name[end - 1] == '-') return false;
    start = end + 1;
  }
  return true;
}

}  // namespace

HostParse parse_host(std::string_view raw) noexcept {
  HostParse parse;
  std::string_view name = raw;
  if (name.ends_with('.')) name.remove_suffix(1);
  const bool fits = name.size() <= Host::max_length;
  Scan found;
  if (fits) {
    scan(name, parse.host.bytes_.data(), found);
  } else {
    found.marks = marks_of(name);
  }
  if ((found.marks & of_literal) != 0 || last_label_is_number(name)) {
    parse.kind = HostParse::Kind::ip_literal;
    parse.address = strict_literal(raw);
    return parse;
  }
  if (!fits || (found.marks & foreign) != 0 || !labels_are_good(name, found)) return parse;
  parse.host.length_ = static_cast<std::uint8_t>(name.size());
  parse.host.has_underscore_ = (found.marks & underscore) != 0;
  parse.kind = HostParse::Kind::name;
  return parse;
}

Authority split_authority(std::string_view raw) noexcept {
  std::size_t colon = std::string_view::npos;
  if (raw.starts_with('[')) {
    const std::size_t bracket = raw.rfind(']');
    if (bracket != std::string_view::npos) colon = raw.find(':', bracket);
  } else {
    colon = raw.find(':');
    // "::1:443", "fe80::1:443": an IPv6 address without its brackets. A URL parser refuses it. Here
    // the text is cut at the last colon, and the host is refused as an address.
    const bool starts_like_v6 =
        colon <= 4 &&
        std::all_of(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(colon), is_hex);
    if (starts_like_v6) colon = raw.rfind(':');
  }
  if (colon == std::string_view::npos) return {raw, {}, false};
  return {raw.substr(0, colon), raw.substr(colon + 1), true};
}

std::optional<std::uint16_t> parse_port(std::string_view text) noexcept {
  if (text.empty() || text.size() > 5) return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + static_cast<std::uint32_t>(c - '0');
  }
  if (value == 0 || value > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(value);
}

}  // namespace stile::acl
