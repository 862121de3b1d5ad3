// Untrusted text in a form that is safe in a message, on a terminal or in a shell.
#pragma once

#include <string>
#include <string_view>

namespace stile {

// Every byte outside of 0x20–0x7e as \xNN.
[[nodiscard]] std::string printable(std::string_view text);

// Printable, in single quotes, cut to 80 bytes.
[[nodiscard]] std::string in_quotes(std::string_view text);

// In double quotes, as TOML and JSON write it. `text` has no control characters.
[[nodiscard]] std::string quoted_literal(std::string_view text);

// As one word for a shell: in quotes unless it is made of harmless characters only.
[[nodiscard]] bool is_plain_word(std::string_view text);
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace stile
