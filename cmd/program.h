// What the main() of each program does in the same way.
#pragma once

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <optional>

namespace stile::cmd {

// Reads the command line. A value is the exit status: help or the version was printed, or the
// command line is wrong.
inline std::optional<int> parse_flags(CLI::App& app, const char* program, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == 0) return app.exit(problem);
    std::cerr << program << ": " << problem.what() << "\n  next: " << program << " --help\n";
    return 2;
  }
}

// An exception means that the process cannot go on. `fail` prints its message.
template <class Run, class Fail>
int run_program(int argc, char** argv, Run run, Fail fail) {
  try {
    return run(argc, argv);
  } catch (const std::exception& problem) {
    fail(problem.what());
    return 1;
  }
}

}  // namespace stile::cmd
