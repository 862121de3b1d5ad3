// Reader: the source of a value that is being read, and where its errors are reported.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "config/diagnostics.h"
#include "config/node.h"

namespace stile::config {

struct Reader {
  Diagnostics& problems;
  std::string file;
  // Relative paths in the document start here; nullopt: the text has no directory (put-agent), and
  // paths must be absolute.
  std::optional<std::string> directory;
  std::string key;  // being read: "egress.ports"

  [[nodiscard]] Place place(Position position) const {
    return {file, position.line, position.column};
  }
  // Both return nullopt, so that a reading function can return the result.
  std::nullopt_t error(const Node& at, std::string problem, std::string hint = {}) const {
    problems.error(place(at.position), key, std::move(problem), std::move(hint));
    return std::nullopt;
  }
  std::nullopt_t wrong_type(const Node& found, std::string_view expected) const {
    return error(found,
                 "expected " + std::string{expected} + ", found " + std::string{found.type_name()});
  }
};

}  // namespace stile::config
