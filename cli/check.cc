// stile check: whether a config can be used, and what is in it.
#include "config/check.h"

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

void add_check(Command& stile) {
  auto options = std::make_shared<CheckOptions>();
  auto command = stile.add("check", "read a config; say all that is wrong with it");
  command.word("FILE", options->file, "the config (default: what stiled would take without -c)");
  command.flag("--effective", options->effective, "print the merged policy of each agent");
  command.flag("--json", options->json, "what is said and what is wrong, as JSON");
  command.examples(
      "Examples:\n"
      "  stile check                     the config in use\n"
      "  stile check new.toml            one that is not in use yet; reload only if it is fine\n"
      "  stile check --effective         what each agent may do, and which line says so\n"
      "Exit status 1: the config cannot be used, or one of its agent cards is refused.");
  command.does([options] {
    const auto check = [&](std::ostream& out, std::ostream& err) {
      return config::check(options->file, out, err, {options->effective, true});
    };
    return options->json ? print_said(check) : check(std::cout, std::cerr);
  });
}

}  // namespace stile::cli
