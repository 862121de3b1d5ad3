// overrides_in: fields by their names, and the query as servers read it.
#include "acl/overrides.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/contains.h"

namespace stile::acl {
namespace {

constexpr std::array<std::string_view, 3> method_names{"x-http-method-override", "x-http-method",
                                                       "x-method-override"};
constexpr std::array<std::string_view, 2> path_names{"x-original-url", "x-rewrite-url"};
constexpr std::array<std::string_view, 6> host_names{"forwarded",          "x-forwarded-host",
                                                     "x-forwarded-server", "x-host",
                                                     "x-original-host",    "x-http-host-override"};
constexpr std::size_t shortest_name = 6;

void add(std::string& methods, std::string_view method) {
  if (!methods.empty()) methods += ", ";
  methods += upper_case(method);
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_escape = text[at] == '%' && at + 2 < text.size() &&
                           hex_value(text[at + 1]) >= 0 && hex_value(text[at + 2]) >= 0;
    if (is_escape) {
      out += static_cast<char>(hex_value(text[at + 1]) << 4 | hex_value(text[at + 2]));
      at += 2;
    } else {
      out += text[at] == '+' ? ' ' : text[at];
    }
  }
  return out;
}

// PHP takes a blank and a dot for an underscore.
bool is_method_parameter(std::string_view key) {
  constexpr std::string_view name = "method";
  if (key.size() < name.size() + 1 || key.size() > 3 * (name.size() + 1)) return false;  // most
  const std::string plain = lower_case(decoded(key));
  return plain.size() == name.size() + 1 &&
         std::string_view{"_. "}.find(plain[0]) != std::string_view::npos && plain.ends_with(name);
}

}  // namespace

Overrides overrides_in(std::span<const RequestField> fields, std::string_view query) {
  Overrides found;
  for (const RequestField& field : fields) {
    if (field.name.size() < shortest_name) continue;
    const char first = to_lower(field.name[0]);
    if (first != 'x' && first != 'f') continue;  // most
    std::string name = lower_case(field.name);
    std::replace(name.begin(), name.end(), '_', '-');  // some servers take one for the other
    if (contains(method_names, name)) add(found.method, field.value);
    found.has_path = found.has_path || contains(path_names, name);
    if (contains(host_names, name)) found.hosts.push_back(field.value);
  }
  while (!query.empty()) {
    const std::size_t end = std::min(query.find_first_of("&;"), query.size());
    const std::string_view parameter = query.substr(0, end);
    const std::size_t key_end = std::min(parameter.find('='), parameter.size());
    if (is_method_parameter(parameter.substr(0, key_end))) {
      add(found.method, decoded(parameter.substr(std::min(key_end + 1, parameter.size()))));
    }
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return found;
}

}  // namespace stile::acl
