// stile: the command for people and scripts. All of it is in cli/.
#include "cli/main.h"

int main(int argc, char** argv) { return stile::cli::main(argc, argv); }
