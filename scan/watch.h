// Watch: all that is looked for in the requests of one agent.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "acl/secret.h"
#include "base/secret_bytes.h"
#include "scan/anchors.h"
#include "scan/rules.h"
#include "scan/seed_phrase.h"

namespace stile::scan {

// The texts to look for, as of the values that the secrets have now. Immutable.
class Texts {
 public:
  Texts(std::shared_ptr<const ScanRules> rules,
        std::vector<std::shared_ptr<const SecretBytes>> secrets,
        const std::vector<std::string>& placeholders);

  [[nodiscard]] const ScanRules& rules() const noexcept { return *rules_; }
  // What of the built-in sets, the secrets and the placeholders begins in a part of a text, without
  // decoding it. All parts, one after the other, find the same as one that is the whole text.
  [[nodiscard]] Found look_at(std::string_view text, std::size_t from, std::size_t to,
                              SeedPhrases& phrases) const;
  // All that can be found has a stretch of so many characters of text (bits.h) in it. 0: a value or
  // an expression may match other bytes.
  [[nodiscard]] std::size_t least_text() const noexcept { return least_text_; }
  // As far as a text can reach over the end of a piece.
  [[nodiscard]] std::size_t longest() const noexcept { return longest_; }
  [[nodiscard]] const std::vector<std::shared_ptr<const SecretBytes>>& secrets() const noexcept {
    return secrets_;
  }

 private:
  struct Row {
    const Shape* shape;  // null: a value, which is there if its text is
    Found bit;
  };
  std::shared_ptr<const ScanRules> rules_;
  std::vector<std::shared_ptr<const SecretBytes>> secrets_;
  std::unique_ptr<const SecretBytes> values_;  // in all encodings, one after the other
  std::vector<Row> rows_;                      // by the number of the anchor
  std::unique_ptr<const Anchors> anchors_;
  std::size_t longest_ = 0;
  std::size_t least_text_ = 0;
};

class Watch {
 public:
  Watch(std::shared_ptr<const ScanRules> rules,
        std::vector<std::shared_ptr<const acl::Secret>> secrets,
        std::vector<std::string> placeholders)
      : rules_{std::move(rules)},
        secrets_{std::move(secrets)},
        placeholders_{std::move(placeholders)} {}

  [[nodiscard]] const ScanRules& rules() const noexcept { return *rules_; }
  // Made again when the value of a secret has changed. From any thread.
  [[nodiscard]] std::shared_ptr<const Texts> texts() const;

 private:
  std::shared_ptr<const ScanRules> rules_;
  std::vector<std::shared_ptr<const acl::Secret>> secrets_;
  std::vector<std::string> placeholders_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Texts> texts_;
};

}  // namespace stile::scan
