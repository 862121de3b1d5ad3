// ca_bundle: the roots that this system trusts, in one file.
#pragma once

#include <string>

namespace stile {

// Its path, or "" if the system has none that can be read.
[[nodiscard]] std::string system_ca_bundle();

}  // namespace stile
