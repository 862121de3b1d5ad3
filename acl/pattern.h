// Pattern: one line of an allow or deny list, parsed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "acl/host.h"
#include "base/result.h"

namespace stile::acl {

enum class Scheme : std::uint8_t { tunnel, http };

struct PatternView;

struct Pattern {
  enum class Kind : std::uint8_t {
    exact,   // example.com
    suffix,  // .example.com: the name and everything below it
    below,   // *.example.com: everything below it
    any,     // *
    regex,   // ~…
  };
  // What a pattern covers besides the name.
  enum class Reach : std::uint8_t {
    bare,    // tunnels to `ports`, plain HTTP to `http_ports`; in deny: everything
    tunnel,  // name:8443
    http,    // http://name[:8080]
    tcp,     // tcp://name:22, a tunnel that need not be TLS
  };
  static constexpr std::size_t max_regex_length = 4096;

  Kind kind = Kind::exact;
  Reach reach = Reach::bare;
  std::uint16_t port = 0;  // 0 for bare
  std::string name;        // canonical, without dot, star or tilde; the expression for a regex

  // The error names the byte or the part that is wrong.
  static Result<Pattern> parse(std::string_view text);
  // The same without an allocation, for lists of a million names.
  static Result<PatternView> parse_view(std::string_view text);
  [[nodiscard]] std::string text() const;
};

// A parsed pattern that owns no memory: it holds the name; a regex still points into the source
// text.
struct PatternView {
  Pattern::Kind kind = Pattern::Kind::exact;
  Pattern::Reach reach = Pattern::Reach::bare;
  std::uint16_t port = 0;
  Host host;
  std::string_view regex;
  [[nodiscard]] std::string_view name() const noexcept {
    return kind == Pattern::Kind::regex ? regex : host.text();
  }
};

// Writes a pattern with these parts as text.
[[nodiscard]] std::string pattern_text(Pattern::Kind kind, Pattern::Reach reach, std::uint16_t port,
                                       std::string_view name);

// Whether all names that the narrow pattern matches also match the wide one. A regex covers only
// itself.
[[nodiscard]] bool covers_names(Pattern::Kind wide, std::string_view wide_name,
                                Pattern::Kind narrow, std::string_view narrow_name) noexcept;

}  // namespace stile::acl
