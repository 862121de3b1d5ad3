// program: the files that were installed with this program.
#include "base/program.h"

#include <filesystem>

namespace stile {

std::string program_directory() {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/self/exe", failed).parent_path().string();
}

}  // namespace stile
