// paths: absolute paths, and finding them in other texts.
#include "confine/paths.h"

namespace stile::confine {

bool is_within(std::string_view path, std::string_view directory) noexcept {
  if (directory == "/") return true;
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

std::vector<std::string> paths_in(std::string_view value) {
  std::vector<std::string> paths;
  constexpr std::string_view ends = ",;:= ";
  while (!value.empty()) {
    auto word = value.substr(0, value.find_first_of(ends));
    value.remove_prefix(std::min(word.size() + 1, value.size()));
    if (!word.starts_with('/')) continue;
    while (word.starts_with("//")) word.remove_prefix(1);
    if (word.size() > 1) paths.emplace_back(word);
  }
  return paths;
}

}  // namespace stile::confine
