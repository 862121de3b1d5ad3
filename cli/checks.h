// Checks of words on the command line: an empty text is fine, else it says what is wrong.
#pragma once

#include <string>

namespace stile::cli {

[[nodiscard]] std::string check_pattern(const std::string& text);
[[nodiscard]] std::string check_duration(const std::string& text);
[[nodiscard]] std::string check_size(const std::string& text);
// How long ago, or a point in time.
[[nodiscard]] std::string check_since(const std::string& text);

// The time stamp of an audit line at that moment; `text` has been checked.
[[nodiscard]] std::string since_stamp(const std::string& text);

}  // namespace stile::cli
