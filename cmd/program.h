// What the main() of each program does in the same way.
#pragma once

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/help_text.h"
#include "base/nearest.h"
#include "base/quoted.h"

namespace stile::cmd {

// "unknown option '--alow'; did you mean '--allow'?"; empty: all options are known. `app` is the
// subcommand, if one was named.
inline std::string unknown_option(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> known;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (int i = 1; i < argc && std::string_view{argv[i]} != "--"; ++i) {
    const std::string word{argv[i]};
    const auto name = word.substr(0, word.find('='));
    const bool is_option = name.size() > 1 && name.starts_with('-');
    if (!is_option || app.get_option_no_throw(name) != nullptr) continue;
    const auto near = nearest(name, {known.begin(), known.end()});
    return "unknown option " + in_quotes(name) +
           (near.empty() ? "" : "; did you mean '" + std::string{near} + "'?");
  }
  return {};
}

// `stiled help` and `stiled version`, as in `stile`.
class Words {
 public:
  Words(int argc, char** argv) : words_{argv, argv + argc} {
    const std::string_view first = argc > 1 ? argv[1] : "";
    option_ = "--" + std::string{first};
    if (first == "help" || first == "version") words_[1] = option_.data();
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  char** get() { return words_.data(); }

 private:
  std::vector<char*> words_;
  std::string option_;
};

// Reads the command line. A value is the exit status: help or the version was printed, or the
// command line is wrong.
inline std::optional<int> parse_flags(CLI::App& app, const char* program, int argc, char** argv) {
  try {
    app.parse(argc, Words{argc, argv}.get());
    return std::nullopt;
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == 0) return app.exit(problem);
    auto wrong = unknown_option(app, argc, argv);
    if (const auto left = app.remaining(); wrong.empty() && !left.empty()) {
      wrong = in_quotes(left.front()) + " is one argument too many";
    }
    std::cerr << program << ": " << (wrong.empty() ? problem.what() : wrong)
              << "\n  next: " << program << " --help\n";
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
