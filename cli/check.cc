// stile check: whether a config can be used, and what is in it.
#include "config/check.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/said.h"

namespace stile::cli {
namespace {

struct CheckOptions {
  std::optional<std::string> file;
  bool effective = false, json = false;
};

}  // namespace

void add_check(CLI::App& app, Action& action) {
  auto options = std::make_shared<CheckOptions>();
  auto* command = app.add_subcommand("check", "read a config; say all that is wrong with it");
  command->add_option("FILE", options->file,
                      "the config (default: what stiled would take without -c)");
  command->add_flag("--effective", options->effective, "print the merged policy of each agent");
  command->add_flag("--json", options->json, "what is said and what is wrong, as JSON");
  command->footer(
      "Examples:\n"
      "  stile check                     the config in use\n"
      "  stile check new.toml            one that is not in use yet; reload only if it is fine\n"
      "  stile check --effective         what each agent may do, and which line says so");
  command->callback([options, &action] {
    action = [options] {
      const auto check = [&](std::ostream& out, std::ostream& err) {
        return config::check(options->file, out, err, options->effective);
      };
      return options->json ? print_said(check) : check(std::cout, std::cerr);
    };
  });
}

}  // namespace stile::cli
