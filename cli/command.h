// Command: what a subcommand of `stile` is: the words that it takes and what it does. CLI11 stays
// behind this file.
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
inline constexpr int failed = 1;  // refused, or it did not work
inline constexpr int misused = 2;
inline constexpr int no_daemon = 3;

// Does the work of a command and returns the exit status. It runs after the whole command line was
// found to be right, so that a mistake in a later word changes nothing.
using Action = std::function<int()>;

// One word or option of a command.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_{option} {}

  Option& required();
  // `problem` returns what is wrong with a value; an empty text is fine.
  Option& check(std::string (*problem)(const std::string& value));
  Option& one_of(std::vector<std::string> values);
  Option& excludes(const Option& other);
  Option& shown_as(const char* name);  // "FILE" in the help
  // May be given several times, with one value each: a word that follows is not its second one.
  Option& repeated();

 private:
  CLI::Option* option_;
};

class Command {
 public:
  Command(CLI::App* app, Action* chosen) : app_{app}, chosen_{chosen} {}

  Command add(const char* name, const char* help);  // a command below this one

  // Words without a name, in their order.
  Option word(const char* name, std::string& value, const char* help);
  Option word(const char* name, std::optional<std::string>& value, const char* help);
  Option words(const char* name, std::vector<std::string>& values, const char* help);
  Option option(const char* name, std::string& value, const char* help);
  Option option(const char* name, std::optional<std::string>& value, const char* help);
  Option option(const char* name, std::uint64_t& value, const char* help);
  Option options(const char* name, std::vector<std::string>& values, const char* help);
  Option flag(const char* name, bool& value, const char* help);
  // Everything from the first word on belongs to that word: "run -- COMMAND --its-option".
  void takes_a_command();

  void examples(const char* text);  // the end of its help
  void does(Action action);         // when it is chosen

  // For `run`, whose words are CLI11's own.
  [[nodiscard]] CLI::App& app() const noexcept { return *app_; }
  [[nodiscard]] Action& chosen() const noexcept { return *chosen_; }

 private:
  CLI::App* app_;
  Action* chosen_;
};

// Adds one subcommand to the program.
using AddCommand = void(Command& stile);

// Reads the command line of `stile` and does what it says; the exit status.
[[nodiscard]] int run_command_line(std::vector<std::string> words,
                                   const std::vector<AddCommand*>& commands);

// For what can be seen only after the words were read: prints the problem; the exit status.
[[nodiscard]] int misuse(std::string_view command, std::string_view problem);

}  // namespace stile::cli
