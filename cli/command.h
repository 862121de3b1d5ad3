// Command: a subcommand of `stile`: its arguments and its action. Only this module uses CLI11.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stile::cli {

// Exit statuses; scripts rely on them.
inline constexpr int fine = 0;
inline constexpr int failed = 1;  // refused, or an error
inline constexpr int misused = 2;
inline constexpr int no_daemon = 3;

// Runs a command and returns the exit status. It runs after the whole command line is checked, so
// that an error in a later argument changes nothing.
using CommandAction = std::function<int()>;

// One argument or option of a command.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_{option} {}

  Option& required();
  // `problem` returns the error in a value; an empty text means valid.
  Option& check(std::string (*problem)(const std::string& value));
  Option& one_of(std::vector<std::string> values);
  Option& excludes(const Option& other);
  Option& shown_as(const char* name);  // "FILE" in the help
  // May be repeated, with one value each: the argument after the value is not a second value.
  Option& repeated();

 private:
  CLI::Option* option_;
};

class Command {
 public:
  Command(CLI::App* app, CommandAction* chosen) : app_{app}, chosen_{chosen} {}

  Command add(const char* name, const char* help);  // a command below this one

  // Positional arguments, in their order.
  Option word(const char* name, std::string& value, const char* help);
  Option word(const char* name, std::optional<std::string>& value, const char* help);
  Option words(const char* name, std::vector<std::string>& values, const char* help);
  Option option(const char* name, std::string& value, const char* help);
  Option option(const char* name, std::optional<std::string>& value, const char* help);
  Option option(const char* name, std::uint64_t& value, const char* help);
  Option options(const char* name, std::vector<std::string>& values, const char* help);
  Option flag(const char* name, bool& value, const char* help);
  // Everything from the first positional argument on belongs to it: "run -- COMMAND --its-option".
  void takes_a_command();

  void examples(const char* text);  // the end of the help text
  void does(CommandAction action);  // runs when the command is chosen

  // For `run`, which uses CLI11 directly.
  [[nodiscard]] CLI::App& app() const noexcept { return *app_; }
  [[nodiscard]] CommandAction& chosen() const noexcept { return *chosen_; }

 private:
  CLI::App* app_;
  CommandAction* chosen_;
};

// Adds one subcommand to the program.
using AddCommand = void(Command& stile);

// Reads the command line of `stile` and runs the command. Returns the exit status.
[[nodiscard]] int run_command_line(std::vector<std::string> words,
                                   const std::vector<AddCommand*>& commands);

// The command line as it was typed, to be pasted; and the same as root.
[[nodiscard]] std::string typed_command();
[[nodiscard]] std::string as_root();

// For errors that show only after parsing: prints the problem. Returns the exit status.
[[nodiscard]] int misuse(std::string_view command, std::string_view problem);

}  // namespace stile::cli
