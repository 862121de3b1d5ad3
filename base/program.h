// program: the files that were installed with this program.
#pragma once

#include <string>

namespace stile {

// The directory of the running program, such as /usr/bin. Empty if /proc cannot be read.
[[nodiscard]] std::string program_directory();

}  // namespace stile
