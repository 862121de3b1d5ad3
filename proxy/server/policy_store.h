// PolicyStore: an opened config, and the function that reads it again.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "control/file_policy.h"

namespace stile::server {

class PolicyStore {
 public:
  // Reads a stile.toml; without a path the default one, or the embedded default.
  static config::Checked<PolicyStore> open(std::optional<std::string> path) {
    return open(control::config_reader(std::move(path)));
  }
  // Reads with `reader`, now and at each reload.
  static config::Checked<PolicyStore> open(control::PolicyReader reader) {
    auto base = control::read_file_policy(reader);
    if (!base) return base.error();
    return PolicyStore{std::move(reader), std::move(*base)};
  }

  control::PolicyReader reader;
  control::FilePolicyPtr base;

 private:
  PolicyStore(control::PolicyReader from, control::FilePolicyPtr first)
      : reader{std::move(from)}, base{std::move(first)} {}
};

}  // namespace stile::server
