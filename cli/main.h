// The program `stile`: reads the command line and runs one command.
#pragma once

namespace stile::cli {

// The exit status: see command.h.
[[nodiscard]] int main(int argc, char** argv);

}  // namespace stile::cli
