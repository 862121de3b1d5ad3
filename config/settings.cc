// Settings: finds the place of a key.
#include "config/settings.h"

#include <algorithm>

namespace stile::config {

Place place_of(const std::string& file, const std::vector<KeyPlace>& keys, std::string_view section,
               std::string_view name) {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const KeyPlace& key) {
    return key.section == section && key.name == name;
  });
  if (found == keys.end()) return {file, 0, 0};
  return {file, found->line, found->column};
}

}  // namespace stile::config
