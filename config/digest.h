// Digest: SHA-256 over all files that were read, so that an audit log names the policy it started
// with.
#pragma once

#include <string>
#include <string_view>

#include "base/sha256.h"

namespace stile::config {

class Digest {
 public:
  // Hashes name and content with their lengths: moving bytes from one file to the next changes the
  // digest.
  void add(std::string_view file, std::string_view content) {
    for (const auto part : {file, content}) {
      hash_.update(std::to_string(part.size()) + ':');
      hash_.update(part);
    }
  }
  [[nodiscard]] std::string hex() const { return std::string{hash_text(hash_.hex())}; }

 private:
  Sha256 hash_;
};

}  // namespace stile::config
