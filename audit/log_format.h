// LogFormat: a compiled `logformat` of squid.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/record.h"
#include "base/result.h"

namespace stile::audit {

class LogFormat {
 public:
  // Text with %codes. An unknown code is an error. A code for a value that is never logged (a
  // header's value, a user name from an authentication) prints `-`.
  static Result<LogFormat> compile(std::string_view text);

  // Appends the line of a finished request with its newline; other events append nothing.
  void append(std::string& out, const Record& record) const;

  // squid's predefined formats, except its native one.
  static constexpr std::string_view common =
      R"(%>a %[ui %[un [%tl] "%rm %ru HTTP/%rv" %>Hs %<st %Ss:%Sh)";
  static constexpr std::string_view combined =
      R"(%>a %[ui %[un [%tl] "%rm %ru HTTP/%rv" %>Hs %<st "%{Referer}>h" "%{User-Agent}>h" %Ss:%Sh)";

 private:
  using Write = void (*)(std::string& out, const Record& record, const std::string& argument);
  struct Code {
    std::string_view name;
    Write write;
  };
  static const Code* find(std::string_view name);
  static Result<std::size_t> compile_code(std::string_view text, std::size_t at, LogFormat& format);

  struct Piece {
    std::string text;       // literal, or the code's argument
    Write write = nullptr;  // null: a literal
    std::size_t width = 0;
    char fill = ' ';
    bool is_left = false;
  };
  std::vector<Piece> pieces_;
};

}  // namespace stile::audit
