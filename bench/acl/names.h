// Host names for measuring: as long and as deep as those of real lists, the same at each run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace stile::bench {

// Distinct names of two to four labels, about 20 bytes on average. Another seed gives other names,
// and none twice.
[[nodiscard]] std::vector<std::string> make_names(std::size_t count, unsigned seed);

}  // namespace stile::bench
