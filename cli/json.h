// Json: answers of the daemon, read with patience: a key that is missing or of another type is
// empty, so that an older or newer daemon still gets its table.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace stile::cli {

using Json = nlohmann::json;

[[nodiscard]] std::string text_of(const Json& object, const char* key);
[[nodiscard]] std::uint64_t number_of(const Json& object, const char* key);
[[nodiscard]] bool flag_of(const Json& object, const char* key);
[[nodiscard]] bool has(const Json& object, const char* key);
// The array under the key, or an empty one.
[[nodiscard]] const Json& list_of(const Json& object, const char* key);
// The object under the key, or an empty one.
[[nodiscard]] const Json& object_of(const Json& object, const char* key);
// The words of a list: "a, b, c".
[[nodiscard]] std::string joined(const Json& list, std::string_view separator = ", ");

// One line, ASCII only: what an agent chose cannot steer a terminal in this form either.
[[nodiscard]] std::string dump(const Json& value);

}  // namespace stile::cli
