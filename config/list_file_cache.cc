// ListFileCache: every list file that a config names, read once.
#include "config/list_file_cache.h"

#include "base/files.h"
#include "config/list_file.h"
#include "config/trust.h"

namespace stile::config {

const Checked<ListFileCache::Rules>& ListFileCache::get(const std::string& path, Digest* digest) {
  const auto found = files_.find(path);
  if (found != files_.end()) return found->second;
  return files_.emplace(path, read(path, digest)).first->second;
}

void ListFileCache::get_all(const std::vector<std::string>& paths, const Place& named_at,
                            const std::string& key, Digest* digest, Diagnostics& problems) {
  for (const auto& path : paths) {
    const auto& rules = get(path, digest);
    if (rules) continue;
    const auto found = rules.error();  // a copy that outlives the loop
    for (const auto& item : found.items()) {
      if (item.place.line > 0) {
        problems.error(item.place, item.key, item.problem, item.hint);
      } else {
        problems.error(named_at, key, item.text());
      }
    }
  }
}

void ListFileCache::forget_failures() {
  std::erase_if(files_, [](const auto& file) { return !file.second; });
}

Checked<ListFileCache::Rules> ListFileCache::read(const std::string& path, Digest* digest) const {
  Diagnostics problems;
  const auto opened = open_trusted(path, owner_);
  if (!opened) {
    problems.file_error(path, opened.error().message);
    return problems;
  }
  const auto content = read_all(opened->file.get(), max_list_bytes);
  if (!content) {
    problems.file_error(path, content.error().message);
    return problems;
  }
  if (digest != nullptr) digest->add(path, *content);
  return parse_list(*content, path);
}

}  // namespace stile::config
