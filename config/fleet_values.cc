// Values of [fleet].
#include "config/fleet_values.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/quoted.h"

namespace stile::config {
bool is_fleet_name(std::string_view name) {
  if (name.size() > 253) return false;
  while (true) {
    const auto dot = name.find('.');
    if (!is_plain_id(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

std::optional<StoreAddress> parse_store_address(std::string_view text) {
  constexpr std::string_view scheme = "https://";
  if (!text.starts_with(scheme) || text.size() > 512) return std::nullopt;
  text.remove_prefix(scheme.size());
  StoreAddress address{{}, "2379"};
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    address.host = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    if (!acl::Address::parse(address.host)) return std::nullopt;
  } else {
    const auto end = std::min(text.find(':'), text.size());
    address.host = text.substr(0, end);
    text.remove_prefix(end);
    if (address.host.empty() || !has_only(address.host, ".-")) return std::nullopt;
  }
  if (text.empty()) return address;
  if (!text.starts_with(':')) return std::nullopt;
  address.port = text.substr(1);
  const auto& port = address.port;
  const bool is_number = !port.empty() && port.size() <= 5 && port.front() != '0' &&
                         port.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || std::stoi(port) > 65535) return std::nullopt;
  return address;
}

std::optional<std::string> StoreElement::read(const Node& node, const Reader& reader) {
  auto text = Text::read(node, reader);
  if (text && !parse_store_address(*text)) {
    return reader.error(node, in_quotes(*text) + " is not https://host:port");
  }
  return text;
}

std::optional<std::string> StorePrefix::read(const Node& node, const Reader& reader) {
  auto text = Text::read(node, reader);
  if (!text) return text;
  const bool is_good = text->size() > 1 && text->size() <= 256 && text->starts_with('/') &&
                       !text->ends_with('/') && has_only(*text, ".-/_");
  if (!is_good) return reader.error(node, in_quotes(*text) + " is not a prefix like /stile");
  return text;
}

std::optional<std::string> HostOrNone::read(const Node& node, const Reader& reader) {
  auto text = Text::read(node, reader);
  if (text && !text->empty() && !is_fleet_name(*text)) {
    return reader.error(node, in_quotes(*text) + " is not a lower-case host name");
  }
  return text;
}

std::optional<std::string> LabelElement::read(const Node& node, const Reader& reader) {
  auto text = Text::read(node, reader);
  if (text && !is_fleet_name(*text)) {
    return reader.error(node, in_quotes(*text) + " is not a label of a-z, 0-9, - and dots");
  }
  return text;
}

}  // namespace stile::config
