// HelpText: the layout of --help, the same for all programs.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace stile {

// Shows the value of an option and nothing else: the usage line says what is required, and an error
// names options that exclude each other.
class HelpText final : public CLI::Formatter {
 public:
  HelpText() { label("Positionals", "Arguments"); }

  [[nodiscard]] std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0 || option->get_type_name().empty()) return {};
    const bool is_repeated = option->get_expected_max() == CLI::detail::expected_max_vector_size;
    return ' ' + option->get_type_name() + (is_repeated ? " ..." : "");
  }
};

// Before options and commands are added: they copy this.
inline void use_help_text(CLI::App& app, const std::string& version) {
  app.formatter(std::make_shared<HelpText>());
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", version, "print the version");
}

}  // namespace stile
