// Prints docs/configuration.md; `ninja config_reference` writes it to the file.
#include <iostream>

#include "config/reference.h"

int main() {
  std::cout << stile::config::reference();
  return std::cout.good() ? 0 : 1;
}
