// PathPattern: the path of a request rule, with `*` and `**`; and which paths can be judged at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stile::acl {

// A path is judged as it was sent. `*` stands for any bytes of one segment, `**` for any bytes of
// any number of segments. An encoded slash matches only an encoded slash: to some servers it is a
// separator, to others a byte.
class PathPattern {
 public:
  static constexpr std::size_t max_length = 1024;

  static Result<PathPattern> parse(std::string_view text);
  [[nodiscard]] bool matches(std::string_view path) const;
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  friend bool operator==(const PathPattern& a, const PathPattern& b) { return a.text_ == b.text_; }

 private:
  struct Token {
    enum class Kind : std::uint8_t { byte, encoded_slash, star, double_star };
    Kind kind = Kind::byte;
    char byte = 0;
  };
  std::string text_;
  std::vector<Token> tokens_;
};

// False: servers may read this path in different ways, so no rule about paths can judge it. Such
// are `//`, segments `.` and `..` (also before a `;`), a backslash, an encoded dot, backslash or
// control byte, an escape that is encoded again, a malformed escape, and bytes outside of ASCII.
[[nodiscard]] bool is_plain_path(std::string_view path) noexcept;

}  // namespace stile::acl
