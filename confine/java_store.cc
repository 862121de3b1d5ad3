// java_store: certificates as a trust store of Java.
#include "confine/java_store.h"

#include <cstddef>
#include <string_view>

namespace stile::confine {
namespace {

using std::string_view_literals::operator""sv;

constexpr char tag_sequence = 0x30, tag_set = 0x31, tag_octets = 0x04, tag_oid = 0x06;
constexpr char tag_bmp_text = 0x1e, tag_0 = static_cast<char>(0xa0);

constexpr auto data_oid = "\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01"sv;
constexpr auto cert_bag_oid = "\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x0a\x01\x03"sv;
constexpr auto x509_oid = "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x16\x01"sv;
constexpr auto friendly_name_oid = "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x14"sv;
// Oracle's attribute: without it Java reads a certificate as part of a chain, not as trusted.
constexpr auto trusted_key_usage_oid = "\x60\x86\x48\x01\x86\xf9\x66\xad\xca\x7b\x01\x01"sv;
constexpr auto any_key_usage_oid = "\x55\x1d\x25\x00"sv;

// One value of DER: tag, length, contents.
std::string der(char tag, std::string_view contents) {
  std::string length;
  for (std::size_t left = contents.size(); left > 0; left >>= 8U) {
    length.insert(length.begin(), static_cast<char>(left & 0xffU));
  }
  std::string out{tag};
  if (contents.size() < 0x80) {
    out += static_cast<char>(contents.size());
  } else {
    out += static_cast<char>(0x80U | length.size());
    out += length;
  }
  return out.append(contents);
}

std::string oid(std::string_view bytes) { return der(tag_oid, bytes); }

std::string content_info(std::string_view contents) {
  return der(tag_sequence, oid(data_oid) + der(tag_0, der(tag_octets, contents)));
}

std::string attribute(std::string_view type, const std::string& value) {
  return der(tag_sequence, oid(type) + der(tag_set, value));
}

std::string trusted_entry(std::string_view certificate, std::size_t number) {
  std::string name;  // big-endian UTF-16
  for (const char c : "stile-" + std::to_string(number)) (name += '\0') += c;
  const auto bag = der(tag_sequence, oid(x509_oid) + der(tag_0, der(tag_octets, certificate)));
  return der(tag_sequence,
             oid(cert_bag_oid) + der(tag_0, bag) +
                 der(tag_set, attribute(friendly_name_oid, der(tag_bmp_text, name)) +
                                  attribute(trusted_key_usage_oid, oid(any_key_usage_oid))));
}

}  // namespace

std::string java_trust_store(std::span<const std::string> certificates) {
  constexpr auto version_3 = "\x02\x01\x03"sv;
  std::string entries;
  for (std::size_t i = 0; i < certificates.size(); ++i) {
    entries += trusted_entry(certificates[i], i);
  }
  const auto contents = content_info(der(tag_sequence, entries));
  return der(tag_sequence, std::string{version_3} + content_info(der(tag_sequence, contents)));
}

}  // namespace stile::confine
