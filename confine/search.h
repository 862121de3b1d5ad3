// search: finds what must not be seen in a tree that is shown.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "acl/result.h"
#include "confine/plan.h"

namespace stile::confine {

struct SearchRequest {
  int root = -1;     // descriptor of the tree's directory
  std::string path;  // of that directory in the view, for messages and for `is_other`
  Search search = Search::all;
  // A file that is covered under whatever name it is found: the log.
  std::optional<std::pair<dev_t, ino_t>> file;
  // Whether something else will be mounted there; it is searched by itself.
  std::function<bool(const std::string& path)> is_other;
};

struct FoundPlace {
  int place = -1;  // O_PATH, for the time of the call
  std::string path;
  bool is_directory = false;
  bool is_secret = false;  // and not a socket
};

// Sockets by their type, whatever name they were bound under; secrets by name. Fails, rather than
// leave a part unseen, if the tree has more entries or levels than can be searched.
[[nodiscard]] Result<void> search_tree(const SearchRequest& request,
                                       const std::function<Result<void>(const FoundPlace&)>& found);

}  // namespace stile::confine
