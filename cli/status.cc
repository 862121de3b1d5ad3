// stile status: the daemon at a glance.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/agent_detail.h"
#include "cli/commands.h"
#include "cli/control_command.h"
#include "cli/human.h"
#include "cli/table.h"

namespace stile::cli {
namespace {

void print_totals(const Json& answer, const Terminal& terminal) {
  const auto count = [&](const char* key) { return std::to_string(number_of(answer, key)); };
  std::cout << "  agents    " << count("agents") << ", with " << count("grants") << " grants\n"
            << "  open      " << count("tunnels_open") << " tunnels, " << count("connections_open")
            << " connections\n"
            << "  requests  " << count("requests_allowed") << " allowed, "
            << count("requests_denied") << " denied, " << count("requests_would_deny")
            << " would be denied\n"
            << "  bytes     " << bytes_text(number_of(answer, "bytes_up")) << " up, "
            << bytes_text(number_of(answer, "bytes_down")) << " down\n"
            << "  audit     " << count("audit_events") << " lines, " << count("audit_gaps")
            << " gaps\n";
  if (has(answer, "audit_problem")) {
    std::cout << terminal.coloured("  the audit log cannot be written: ", Colour::red)
              << Cell{text_of(answer, "audit_problem")}.text
              << "\n  next: df -h; ls -l its folder\n";
  }
}

int print_status(const Json& answer, const Terminal& terminal) {
  const Cell mode{text_of(answer, "mode")};
  std::cout << "stiled " << Cell{text_of(answer, "version")}.text << ", up "
            << seconds_text(number_of(answer, "uptime_seconds")) << ", mode "
            << terminal.coloured(mode.text, mode_colour(mode.text)) << ", policy "
            << number_of(answer, "generation") << ", workers " << number_of(answer, "workers")
            << '\n';
  print_totals(answer, terminal);
  const Json& rejected = list_of(answer, "rejected_cards");
  for (const Json& card : rejected) {
    auto problem = text_of(card, "problem");
    if (problem.ends_with('\n')) problem.pop_back();
    std::cout << terminal.coloured("  card refused: ", Colour::red)
              << Cell{text_of(card, "file")}.text << ": " << Cell{problem}.text << '\n';
  }
  if (!rejected.empty()) std::cout << "  next: mend the cards, then: stile check && stile reload\n";
  return fine;
}

}  // namespace

void add_status(CLI::App& app, Action& action) {
  auto options = std::make_shared<ControlOptions>();
  auto* command = app.add_subcommand("status", "the daemon at a glance (also: stile alone)");
  add_control_options(*command, *options);
  command->footer("Examples:\n  stile\n  stile status --json | jq .generation");
  command->callback([options, &action] {
    action = [options] {
      return ask(*options, Access::look, {{"action", "status"}}, print_status);
    };
  });
}

}  // namespace stile::cli
