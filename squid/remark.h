// Remark: what there is to say about a value that was taken all the same; empty: nothing.
#pragma once

#include <string>

namespace stile::squid {

struct Remark {
  std::string text;
};

}  // namespace stile::squid
