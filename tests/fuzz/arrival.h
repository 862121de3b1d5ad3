// The sizes that a stream may have reached when its reader is asked, for fuzz targets.
#pragma once

#include <cstddef>
#include <vector>

namespace stile::fuzz {

// Every size of a short stream; of a long one about a hundred, since the time to ask at each byte
// is better spent on other inputs. The last is the whole.
inline std::vector<std::size_t> arrival_sizes(std::size_t whole) {
  std::vector<std::size_t> sizes;
  const std::size_t step = 1 + whole / 100;
  for (std::size_t size = 0; size < whole; size += step) sizes.push_back(size);
  sizes.push_back(whole);
  return sizes;
}

}  // namespace stile::fuzz
