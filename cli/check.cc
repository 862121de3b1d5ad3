// stile check: checks whether a config is valid, and summarizes it.
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "cli/command_list.h"
#include "cli/from_daemon.h"
#include "cli/output_as_json.h"
#include "config/check_config.h"
#include "config/load.h"
#include "fleet/publish.h"

namespace stile::cli {
namespace {

struct CheckOptions {
  std::optional<std::string> file;
  bool effective = false, json = false, fleet = false;
};

// What the daemon found in files that the caller cannot read.
int print_given(const DaemonConfig& given, bool effective, std::ostream& out, std::ostream& err) {
  for (const Json& card : given.rejected_cards) err << "card refused: " << text_of(card, "problem");
  // The daemon sends all files as one text, and its lines are not those of the files.
  const auto name = given.file + " as the daemon has read it, as one text,";
  const int status = config::check_text(given.text, name, out, err, {effective, true});
  out << "  digest of the files  " << given.digest << '\n';
  return given.rejected_cards.empty() ? status : failed;
}

// A policy of a fleet, as `stile fleet publish` checks it before it signs.
int check_policy(const std::string& file, std::ostream& out, std::ostream& err) {
  const auto body = fleet::policy_body("policy", file);
  if (!body) {
    err << body.error().message << (body.error().message.ends_with('\n') ? "" : "\n");
    return failed;
  }
  out << file << ": OK, a policy of " << body->size() << " bytes\n";
  return fine;
}

int run_check(const CheckOptions& options, std::ostream& out, std::ostream& err) {
  if (options.fleet) return check_policy(options.file.value_or(""), out, err);
  std::ostringstream own_out, own_err;
  const auto file = options.file ? options.file : other_config_in_use();
  const int status = config::check(file, own_out, own_err, {options.effective, true});
  if (status != fine && !options.file) {
    const auto given = read_daemon_config({});
    if (given) return print_given(*given, options.effective, out, err);
    if (given.error().code == "config-error") {
      err << given.error().message;
      return failed;
    }
  }
  out << own_out.str();
  err << own_err.str();
  return status;
}

}  // namespace

void add_check(Command& stile) {
  auto options = std::make_shared<CheckOptions>();
  auto command = stile.add("check", "check a config; print all errors and warnings");
  command.word("FILE", options->file, "the config (default: the one in use)");
  command.flag("--effective", options->effective, "print the merged policy of each agent");
  command.flag("--fleet", options->fleet, "FILE is a policy for `stile fleet publish`");
  command.flag("--json", options->json, "print JSON, for scripts");
  command.examples(
      "Examples:\n"
      "  stile check                     the config in use\n"
      "  stile check new.toml            one that is not in use yet; reload only if it is fine\n"
      "  stile check --fleet policy.toml a policy for `stile fleet publish`\n"
      "  stile check --effective         what each agent may do, and which line says so\n"
      "Exit status 1: the config cannot be used, or one of its agent cards is refused.");
  command.does([options] {
    const auto check = [&](std::ostream& out, std::ostream& err) {
      return run_check(*options, out, err);
    };
    return options->json ? print_as_json(check) : check(std::cout, std::cerr);
  });
}

}  // namespace stile::cli
