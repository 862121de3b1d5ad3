// stile audit: reads audit logs; verifies that they are whole, or shows them to people.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "audit/line_source.h"
#include "audit/show.h"
#include "audit/verify.h"
#include "cli/commands.h"
#include "cli/said.h"

namespace stile::cli {
namespace {

struct AuditOptions {
  std::vector<std::string> files;
  audit::VerifyOptions verify;
  audit::ShowOptions show;
  bool json = false;
};

void add_files(CLI::App& command, AuditOptions& options) {
  command.add_option("FILE", options.files, "logs, oldest first; - is standard input")->required();
}

// The lines that `show` would show, as they are.
int show_lines(const AuditOptions& options) {
  for (const auto& name : options.files) {
    auto source = audit::LineSource::open(name);
    if (!source) {
      std::cerr << "cannot read " << source.error().message << '\n';
      return failed;
    }
    audit::Line line;
    while (source->next()) {
      const bool is_whole = audit::read_line(source->line(), line) == audit::LineKind::whole;
      if (is_whole && audit::matches(line, options.show)) std::cout << source->line() << '\n';
    }
  }
  return fine;
}

void add_verify(CLI::App& audit, Action& action) {
  auto options = std::make_shared<AuditOptions>();
  auto* command = audit.add_subcommand("verify", "name the first place where a log is not whole");
  add_files(*command, *options);
  command->add_option("--head", options->verify.head,
                      "a hash that the journal was told: a line of the files must have it");
  command->add_flag("--json", options->json, "what was found, as JSON");
  command->footer(
      "Examples:\n"
      "  stile audit verify /var/log/stile/audit.jsonl\n"
      "  stile audit verify audit.jsonl.2 audit.jsonl.1 audit.jsonl\n"
      "  journalctl -u stiled -g 'audit: .* head'    where the hashes for --head stand");
  command->callback([options, &action] {
    action = [options] {
      const auto verify = [&](std::ostream& out, std::ostream& err) {
        return audit::verify(options->files, options->verify, out, err);
      };
      return options->json ? print_said(verify) : verify(std::cout, std::cerr);
    };
  });
}

void add_show(CLI::App& audit, Action& action) {
  auto options = std::make_shared<AuditOptions>();
  auto* command = audit.add_subcommand("show", "print the lines of a log for people");
  add_files(*command, *options);
  command->add_option("--agent", options->show.agent, "only this agent");
  command->add_flag("--denied", options->show.denied_only, "only what was, or would be, refused");
  command->add_flag("--json", options->json, "the lines as they stand in the log");
  command->footer(
      "Examples:\n"
      "  stile audit show --agent alpha --denied /var/log/stile/audit.jsonl\n"
      "  zcat audit.jsonl.9.gz | stile audit show -");
  command->callback([options, &action] {
    action = [options] {
      if (options->json) return show_lines(*options);
      return audit::show(options->files, options->show, std::cout, std::cerr);
    };
  });
}

}  // namespace

void add_audit(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("audit", "verify or show audit logs");
  command->require_subcommand(1);
  add_verify(*command, action);
  add_show(*command, action);
}

}  // namespace stile::cli
