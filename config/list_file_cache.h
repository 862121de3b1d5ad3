// ListFileCache: every list file that a config names, read once and shared.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "acl/rule_set.h"
#include "config/diagnostics.h"
#include "config/digest.h"

namespace stile::config {

class ListFileCache {
 public:
  using Rules = std::shared_ptr<const acl::RuleSet>;

  explicit ListFileCache(uid_t config_owner) : owner_{config_owner} {}

  // The rules of a file. Opens, checks and reads it on first use. A file that fails is not tried
  // again: later calls return the same problems.
  const Checked<Rules>& get(const std::string& path, Digest* digest = nullptr);

  // Gets all of them. Problems with a file as a whole are reported at the place that names it.
  void get_all(const std::vector<std::string>& paths, const Place& named_at, const std::string& key,
               Digest* digest, Diagnostics& problems);

  // For use beyond one load: allows a repaired file to be read again.
  void forget_failures();

  [[nodiscard]] const std::map<std::string, Checked<Rules>>& all() const noexcept { return files_; }

 private:
  Checked<Rules> read(const std::string& path, Digest* digest) const;

  uid_t owner_;
  std::map<std::string, Checked<Rules>> files_;
};

}  // namespace stile::config
