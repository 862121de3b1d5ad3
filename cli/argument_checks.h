// Checks of command-line arguments: an empty result means valid, else it is the error message.
#pragma once

#include <string>

namespace stile::cli {

[[nodiscard]] std::string check_pattern(const std::string& text);
[[nodiscard]] std::string check_duration(const std::string& text);
[[nodiscard]] std::string check_size(const std::string& text);
// A duration before now, or a point in time.
[[nodiscard]] std::string check_since(const std::string& text);

// The time stamp of an audit line at that time; `text` is already checked.
[[nodiscard]] std::string since_stamp(const std::string& text);

}  // namespace stile::cli
