// encoded_forms: the ways in which a text usually appears in a request or an answer. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stile {

// The value as it is and as JSON, in base64 at any offset (both alphabets), in hexadecimal and
// percent-encoded; each once, none empty.
[[nodiscard]] std::vector<std::string> encoded_forms(std::string_view value);

}  // namespace stile
