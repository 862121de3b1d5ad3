// Origin: a scheme and an authority under which browsers may use the page, and no other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stile::web {

struct Origin {
  std::string scheme;     // http or https
  std::string authority;  // "127.0.0.1:9129"
  [[nodiscard]] std::string text() const { return scheme + "://" + authority; }
};

// "http://localhost:8080"; lower case, without a path.
[[nodiscard]] Result<Origin> parse_origin(std::string_view text);

// Whether a Host header names this server. DNS rebinding: the page of a foreign name that resolves
// to 127.0.0.1 counts as same-origin for the browser, but its Host is the foreign name.
[[nodiscard]] bool is_own_host(const std::vector<Origin>& own, std::string_view host) noexcept;

// Where programs reach this server under that Host, which is one of ours.
[[nodiscard]] std::string url_of_host(const std::vector<Origin>& own, std::string_view host);

// Whether an Origin header is one of ours, and the request was sent to that same authority.
[[nodiscard]] bool is_own_origin(const std::vector<Origin>& own, std::string_view host,
                                 std::string_view origin) noexcept;

}  // namespace stile::web
