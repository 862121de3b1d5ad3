// PolicyStore: an opened config, and the function that reads it again.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "control/base.h"

namespace stile::server {

using Reading = control::Reading;
using Reader = control::PolicyReader;

class PolicyStore {
 public:
  // Reads a stile.toml; without a path the default one, or the embedded default.
  static config::Checked<PolicyStore> open(std::optional<std::string> path) {
    return open(control::config_reader(std::move(path)));
  }
  // Reads with `reader`, now and at each reload.
  static config::Checked<PolicyStore> open(Reader reader) {
    auto base = control::read_base(reader);
    if (!base) return base.error();
    return PolicyStore{std::move(reader), std::move(*base)};
  }

  Reader reader;
  control::BasePtr base;

 private:
  PolicyStore(Reader from, control::BasePtr first)
      : reader{std::move(from)}, base{std::move(first)} {}
};

}  // namespace stile::server
