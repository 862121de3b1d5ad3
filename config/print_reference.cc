// Prints docs/configuration.md; `ninja config_reference` puts it in its place.
#include <iostream>

#include "config/reference.h"

int main() {
  std::cout << stile::config::reference();
  return std::cout.good() ? 0 : 1;
}
