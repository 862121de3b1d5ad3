// Command: parses the command line with CLI11. Error messages are our own and suggest the nearest
// valid word.
#include "cli/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <utility>

#include "base/contains.h"
#include "base/help_text.h"
#include "base/joined.h"
#include "base/nearest.h"
#include "base/quoted.h"

namespace stile::cli {

namespace {

using Words = std::vector<std::string>;

std::string meant(const std::string& word, const Words& known) {
  const auto near = nearest(word, {known.begin(), known.end()});
  return near.empty() ? std::string{} : "; did you mean '" + std::string{near} + "'?";
}

// What --help shows after an option; `shown_as` replaces it.
const char* value_name(std::string_view option) {
  constexpr std::array<std::pair<std::string_view, const char*>, 20> names{{
      {"--agent", "AGENT"},   {"--audit", "LOG"}, {"--bytes-up", "SIZE"}, {"--ca", "FILE"},
      {"--config", "FILE"},   {"--for", "TIME"},  {"--format", "FORMAT"}, {"--from", "TIME"},
      {"--grant", "GRANT"},   {"--id", "ID"},     {"--key", "FILE"},      {"--login", "PATH"},
      {"--method", "METHOD"}, {"--old", "FILE"},  {"--reason", "WORDS"},  {"--since", "TIME"},
      {"--socket", "PATH"},   {"--tag", "TAG"},   {"--task", "NUMBER"},   {"--wait", "TIME"},
  }};
  for (const auto& [ending, name] : names) {
    if (option.ends_with(ending)) return name;
  }
  return "VALUE";
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}
Option& Option::check(std::string (*problem)(const std::string& value)) {
  option_->check(problem);
  return *this;
}
Option& Option::one_of(std::vector<std::string> values) {
  option_->check([values = std::move(values)](const std::string& value) -> std::string {
    if (contains(values, value)) return {};
    std::string problem = in_quotes(value) + " is not one of";
    for (const auto& known : values) problem += (&known == &values.front() ? " " : ", ") + known;
    return problem + meant(value, values);
  });
  return *this;
}
Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}
Option& Option::shown_as(const char* name) {
  option_->type_name(name);
  return *this;
}
Option& Option::repeated() {
  option_->allow_extra_args(false)->take_all();
  return *this;
}

Command Command::add(const char* name, const char* help) {
  if (app_->get_subcommands({}).empty()) app_->require_subcommand(1);
  return {app_->add_subcommand(name, help), chosen_};
}
Option Command::word(const char* name, std::string& value, const char* help) {
  return Option{app_->add_option(name, value, help)->type_name("")};
}
Option Command::word(const char* name, std::optional<std::string>& value, const char* help) {
  return Option{app_->add_option(name, value, help)->type_name("")};
}
Option Command::words(const char* name, std::vector<std::string>& values, const char* help) {
  return Option{app_->add_option(name, values, help)->type_name("")};
}
Option Command::option(const char* name, std::string& value, const char* help) {
  return Option{app_->add_option(name, value, help)->type_name(value_name(name))};
}
Option Command::option(const char* name, std::optional<std::string>& value, const char* help) {
  return Option{app_->add_option(name, value, help)->type_name(value_name(name))};
}
Option Command::option(const char* name, std::uint64_t& value, const char* help) {
  return Option{
      app_->add_option(name, value, help)->type_name("NUMBER")->check([](const std::string& text) {
        // Digits only: CLI11 would take -1 for the largest number.
        const bool is_number = text.find_first_not_of("0123456789") == std::string::npos;
        const bool is_zero = text.find_first_not_of('0') == std::string::npos;
        return is_number && !is_zero ? std::string{} : std::string{"must be a number, at least 1"};
      })};
}
Option Command::options(const char* name, std::vector<std::string>& values, const char* help) {
  return Option{app_->add_option(name, values, help)->type_name(value_name(name))};
}
Option Command::flag(const char* name, bool& value, const char* help) {
  return Option{app_->add_flag(name, value, help)};
}
void Command::takes_a_command() { app_->positionals_at_end(); }
void Command::examples(const char* text) { app_->footer(text); }
void Command::does(CommandAction action) {
  app_->callback([action = std::move(action), chosen = chosen_] { *chosen = action; });
}

namespace {

Words commands_below(const CLI::App& app) {
  Words names;
  for (const auto* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(below->get_name());
  }
  return names;
}

Words options_of(const CLI::App& app) {
  Words names;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string path_of(const CLI::App& app) {
  const auto* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : path_of(*parent) + ' ' + app.get_name();
}

// The command that the words select, as far as they match, and the remaining words.
struct Chosen {
  const CLI::App* app;
  Words rest;
};

Chosen chosen_by(const CLI::App& stile, const Words& words) {
  Chosen chosen{&stile, words};
  while (!chosen.rest.empty()) {
    const auto names = commands_below(*chosen.app);
    if (!contains(names, chosen.rest.front())) break;
    chosen.app = chosen.app->get_subcommand(chosen.rest.front());
    chosen.rest.erase(chosen.rest.begin());
  }
  return chosen;
}

// Then help for the command before the unknown word is not what the user asked for.
bool names_unknown_command(const Chosen& chosen) {
  return !commands_below(*chosen.app).empty() && !chosen.rest.empty() &&
         !chosen.rest.front().starts_with('-');
}

std::string usage_problem(const Chosen& chosen, const CLI::ParseError& error) {
  const auto& [app, rest] = chosen;
  const auto names = commands_below(*app);
  const auto first_word = std::find_if(rest.begin(), rest.end(),
                                       [](const auto& word) { return !word.starts_with('-'); });
  if (!names.empty() && first_word != rest.end()) {
    return "unknown command " + in_quotes(*first_word) + meant(*first_word, names);
  }
  const auto known = options_of(*app);
  for (const auto& word : rest) {
    if (word == "--") break;
    const auto name = word.substr(0, word.find('='));
    const bool is_option = name.starts_with("--");
    if (is_option && !contains(known, name)) {
      return "unknown option " + in_quotes(name) + meant(name, known);
    }
  }
  if (!names.empty()) return "a command is missing: " + joined(names);
  if (const auto left = app->remaining(); !left.empty() && left.front() != "--") {
    const bool is_option = left.front().size() > 1 && left.front().starts_with('-');
    if (is_option) return "unknown option " + in_quotes(left.front());
    return in_quotes(left.front()) + " is one argument too many";
  }
  return error.what();
}

int complain(std::string_view path, std::string_view problem) {
  std::cerr << path << ": " << problem << "\n  next: " << path << " --help\n";
  return misused;
}

std::string& typed() {
  static std::string words{"stile"};
  return words;
}

// `stile help allow` is `stile allow --help`, and `stile --json` is `stile status --json`.
Words with_command(Words words) {
  const bool is_of_stile = !words.empty() && (words.front() == "-h" || words.front() == "--help" ||
                                              words.front() == "--version");
  if (words.empty() || (words.front().starts_with('-') && !is_of_stile)) {
    words.insert(words.begin(), "status");
  }
  if (words.front() != "help") return words;
  words.erase(words.begin());
  if (words.empty() || words.front() != "--help") words.emplace_back("--help");
  return words;
}

}  // namespace

std::string typed_command() { return typed(); }

std::string as_root() { return "sudo " + typed(); }

int misuse(std::string_view command, std::string_view problem) {
  return complain("stile " + std::string{command}, problem);
}

int run_command_line(Words words, const std::vector<AddCommand*>& commands) {
  CLI::App app{"stile: see and change what agents may reach", "stile"};
  use_help_text(app, "stile " STILE_VERSION);
  app.footer(
      "Exit status: 0 fine, 1 refused or failed, 2 wrong usage, 3 no daemon.\n"
      "`stile help COMMAND` has examples.");
  CommandAction action;
  Command stile{&app, &action};
  for (const auto& add : commands) add(stile);
  words = with_command(std::move(words));
  for (const auto& word : words) typed() += ' ' + shell_word(word);
  Words reversed{words.rbegin(), words.rend()};  // CLI11 takes the words in reverse order
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    const auto chosen = chosen_by(app, words);
    if (error.get_exit_code() == 0 && !names_unknown_command(chosen)) return app.exit(error);
    return complain(path_of(*chosen.app), usage_problem(chosen, error));
  }
  return action();
}

}  // namespace stile::cli
