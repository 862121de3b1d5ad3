// ListFiles: every list file that a config names, read once and shared by all that name it.
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

class ListFiles {
 public:
  using Rules = std::shared_ptr<const acl::RuleSet>;

  explicit ListFiles(uid_t config_owner) : owner_{config_owner} {}

  // The rules of a file; opened, checked and read unless that was done before. A file that cannot
  // be used stays so: asking again gives the same problems, not another chance.
  const Checked<Rules>& get(const std::string& path, Digest* digest = nullptr);

  // Gets all of them. What is wrong with a file as a whole is said where it is named.
  void get_all(const std::vector<std::string>& paths, const Place& named_at, const std::string& key,
               Digest* digest, Diagnostics& problems);

  // For a longer life than one load: a file that is mended gets its chance.
  void forget_failures();

  [[nodiscard]] const std::map<std::string, Checked<Rules>>& all() const noexcept { return files_; }

 private:
  Checked<Rules> read(const std::string& path, Digest* digest) const;

  uid_t owner_;
  std::map<std::string, Checked<Rules>> files_;
};

}  // namespace stile::config
