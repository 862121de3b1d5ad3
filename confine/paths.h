// paths: absolute paths, and finding them in other texts. Pure.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace stile::confine {

// Whether `path` is `directory` or below it; both absolute and without "." and "..".
[[nodiscard]] bool is_within(std::string_view path, std::string_view directory) noexcept;

template <class Paths>
[[nodiscard]] bool is_within_any(std::string_view path, const Paths& directories) {
  return std::any_of(directories.begin(), directories.end(),
                     [&](const auto& directory) { return is_within(path, directory); });
}

// Everything in the value of an environment variable that looks like an absolute path:
// "unix:path=/run/x,guid=1" contains one, and so does "unix:///run/x".
[[nodiscard]] std::vector<std::string> paths_in(std::string_view value);

}  // namespace stile::confine
