// Pattern: one line of an allow or deny list, parsed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "acl/result.h"

namespace stile::acl {

enum class Scheme : std::uint8_t { tunnel, http };

struct Pattern {
  enum class Kind : std::uint8_t {
    exact,   // example.com
    suffix,  // .example.com: the name and everything below it
    below,   // *.example.com: everything below it
    any,     // *
    regex,   // ~…
  };
  // What a pattern covers beside the name.
  enum class Reach : std::uint8_t {
    bare,    // tunnels to `ports`, plain HTTP to `http_ports`; in deny: everything
    tunnel,  // name:8443
    http,    // http://name[:8080]
    tcp,     // tcp://name:22, a tunnel that need not be TLS
  };
  Kind kind = Kind::exact;
  Reach reach = Reach::bare;
  std::uint16_t port = 0;  // 0 for bare
  std::string name;        // canonical, without dot, star or tilde; the expression for a regex

  // Says what is wrong with a pattern in words that name the byte or the part.
  static Result<Pattern> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
};

}  // namespace stile::acl
