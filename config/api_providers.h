// api_providers: how the keys of well-known APIs are sent, and the variables that programs read
// them from.
#pragma once

#include <string>
#include <string_view>

#include "config/settings.h"

namespace stile::config {

struct ApiProvider {
  std::string_view name, variable;
  std::string_view host;  // "": unknown
  std::string_view header, format;
};

// Null: unknown.
[[nodiscard]] const ApiProvider* provider_named(std::string_view name) noexcept;
[[nodiscard]] const ApiProvider* provider_at(std::string_view host) noexcept;

// The secret with the key of a provider, without the source of its value. The provider has a host.
[[nodiscard]] SecretSettings secret_of(const ApiProvider& provider);

// Reads NAME=FILE:HOST[:PORT][:HEADER]. If the host is a provider's, header, format and variable
// are that provider's unless the text names a header. Otherwise the header is `Authorization:
// Bearer …` and the variable NAME_API_KEY.
[[nodiscard]] Result<SecretSettings> parse_secret(std::string_view text);

}  // namespace stile::config
