// Json: answers of the daemon, read with patience.
#include "cli/json.h"

namespace stile::cli {
namespace {

const Json* find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string as_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? std::string{} : dump(value);
}

}  // namespace

std::string text_of(const Json& object, const char* key) {
  const Json* value = find(object, key);
  return value == nullptr ? std::string{} : as_text(*value);
}

std::uint64_t number_of(const Json& object, const char* key) {
  const Json* value = find(object, key);
  if (value == nullptr || !value->is_number()) return 0;
  if (value->is_number_unsigned()) return value->get<std::uint64_t>();
  const double number = value->get<double>();
  return number > 0 && number < 1e18 ? static_cast<std::uint64_t>(number) : 0;
}

bool flag_of(const Json& object, const char* key) {
  const Json* value = find(object, key);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

bool has(const Json& object, const char* key) {
  const Json* value = find(object, key);
  return value != nullptr && !value->is_null();
}

const Json& list_of(const Json& object, const char* key) {
  static const Json none = Json::array();
  const Json* value = find(object, key);
  return value != nullptr && value->is_array() ? *value : none;
}

const Json& object_of(const Json& object, const char* key) {
  static const Json none = Json::object();
  const Json* value = find(object, key);
  return value != nullptr && value->is_object() ? *value : none;
}

std::string joined(const Json& list, std::string_view separator) {
  std::string out;
  for (const Json& item : list) {
    if (!out.empty()) out += separator;
    out += as_text(item);
  }
  return out;
}

std::string dump(const Json& value) {
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace stile::cli
