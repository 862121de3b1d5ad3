// search: finds sockets and secrets in a tree that is shown.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "confine/plan.h"

namespace stile::confine {

struct SearchRequest {
  int root = -1;     // descriptor of the tree's directory
  std::string path;  // of that directory in the view, for messages and for `is_other`
  Search search = Search::all;
  // A file to cover under any name: the log.
  std::optional<std::pair<dev_t, ino_t>> file;
  // Whether another mount will be placed there; that mount is searched separately.
  std::function<bool(const std::string& path)> is_other;
};

struct FoundPlace {
  int place = -1;  // O_PATH, valid during the call
  std::string path;
  bool is_directory = false;
  bool is_secret = false;  // not a socket
};

// Finds sockets by type, under any name, and secrets by name. Fails if the tree has too many
// entries or levels to search: no part may stay unsearched.
[[nodiscard]] Result<void> search_tree(const SearchRequest& request,
                                       const std::function<Result<void>(const FoundPlace&)>& found);

}  // namespace stile::confine
