// stile status: the daemon at a glance.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/control_command.h"
#include "cli/human.h"
#include "cli/table.h"

namespace stile::cli {
namespace {

Colour colour_of_mode(const std::string& mode) {
  if (mode == "enforce") return Colour::green;
  return mode == "offline" ? Colour::red : Colour::yellow;
}

void print_totals(const Json& answer) {
  for (const auto& [key, value] : answer.items()) {
    if (!value.is_number()) continue;
    if (key == "uptime_seconds" || key == "generation" || key == "workers") continue;
    const bool is_bytes = key.find("bytes") != std::string::npos;
    std::string words = Cell{key}.text;
    for (char& c : words) c = c == '_' ? ' ' : c;
    std::cout << "  " << words << ": "
              << (is_bytes ? bytes_text(number_of(answer, key.c_str())) : dump(value)) << '\n';
  }
}

int print(const Json& answer, const Terminal& terminal) {
  const Cell mode{text_of(answer, "mode")};
  std::cout << "stiled " << Cell{text_of(answer, "version")}.text << ", up "
            << seconds_text(number_of(answer, "uptime_seconds")) << ", mode "
            << terminal.coloured(mode.text, colour_of_mode(mode.text)) << ", policy "
            << number_of(answer, "generation") << '\n';
  print_totals(answer);
  print_totals(object_of(answer, "totals"));
  const Json& rejected = list_of(answer, "rejected_cards");
  for (const Json& card : rejected) {
    const auto words = card.is_object() ? joined(card, ": ") : dump(card);
    std::cout << terminal.coloured("  card refused: ", Colour::red) << Cell{words}.text << '\n';
  }
  return fine;
}

}  // namespace

void add_status(CLI::App& app, Action& action) {
  auto options = std::make_shared<ControlOptions>();
  auto* command = app.add_subcommand("status", "the daemon at a glance (also: stile alone)");
  add_control_options(*command, *options);
  command->footer("Examples:\n  stile\n  stile status --json | jq .generation");
  command->callback([options, &action] {
    action = [options] { return ask(*options, Access::look, {{"action", "status"}}, print); };
  });
}

}  // namespace stile::cli
