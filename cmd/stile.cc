// stile: the command for people and scripts. The code is in cli/.
#include "cli/main.h"

int main(int argc, char** argv) { return stile::cli::main(argc, argv); }
