// The program `stile`: reads the command line and runs one command.
#include "cli/main.h"

#include <algorithm>
#include <exception>
#include <iostream>

#include "cli/command_list.h"

namespace stile::cli {

int main(int argc, char** argv) {
  try {
    return run_command_line({argv + std::min(argc, 1), argv + argc}, commands());
  } catch (const std::exception& problem) {
    std::cerr << "stile: " << problem.what() << '\n';
    return failed;
  }
}

}  // namespace stile::cli
