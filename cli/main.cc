// The program `stile`: reads the command line and runs one command.
#include "cli/main.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace stile::cli {
namespace {

// CLI11 takes the words from the last to the first.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words{argv + std::min(argc, 1), argv + argc};
  if (words.empty()) words.emplace_back("status");
  std::reverse(words.begin(), words.end());
  return words;
}

int run_main(int argc, char** argv) {
  CLI::App app{"stile: what agents may reach, and what they did", "stile"};
  app.set_version_flag("--version", "stile " STILE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 fine, 1 refused or failed, 2 usage, 3 no daemon there.\n"
      "`stile COMMAND --help` has examples.");
  Action action;
  add_commands(app, action);
  try {
    app.parse(words_of(argc, argv));
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? fine : misused;
  }
  return action();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_main(argc, argv);
  } catch (const std::exception& problem) {
    std::cerr << "stile: " << problem.what() << '\n';
    return failed;
  }
}

}  // namespace stile::cli
