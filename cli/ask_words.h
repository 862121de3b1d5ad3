// An ask of the daemon in words. Everything in it was chosen by an agent, and is made printable.
#pragma once

#include <string>

#include "base/json_value.h"

namespace stile::cli {

// "example.com:443", "http://example.com:80" or "POST https://api.example.com:443/v1/x".
[[nodiscard]] std::string wanted(const Json& ask);
// "looks like api.example.com, which is allowed"; empty: it looks like no name that is.
[[nodiscard]] std::string likeness(const Json& ask);
// In quotes: only its own word. Empty: it said nothing.
[[nodiscard]] std::string agents_words(const Json& ask);
// Whether it is about one method and path on a host that is allowed for others.
[[nodiscard]] bool is_for_one_request(const Json& ask);

}  // namespace stile::cli
