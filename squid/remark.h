// Remark: a note about a value that was accepted; empty: none.
#pragma once

#include <string>

namespace stile::squid {

struct Remark {
  std::string text;
};

}  // namespace stile::squid
