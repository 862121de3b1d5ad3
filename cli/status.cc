// stile status: the daemon at a glance.
#include <iostream>
#include <memory>

#include "audit/text.h"
#include "base/table.h"
#include "base/units.h"
#include "cli/agent_detail.h"
#include "cli/command_list.h"
#include "cli/control_command.h"

namespace stile::cli {
namespace {

void print_open_asks(const Json& answer, const Terminal& terminal) {
  if (number_of(answer, "asks") == 0) return;
  std::cout << terminal.coloured("  asks      ", Colour::yellow)
            << audit::counted(number_of(answer, "asks"), "question")
            << " of agents for you\n  next: stile asks\n";
}

void print_totals(const Json& answer, const Terminal& terminal) {
  const auto count = [&](const char* key) { return std::to_string(number_of(answer, key)); };
  const auto counted = [&](const char* key, const char* noun) {
    return audit::counted(number_of(answer, key), noun);
  };
  std::cout << "  agents    " << count("agents") << ", with " << counted("grants", "grant") << '\n'
            << "  open      " << counted("tunnels_open", "tunnel") << ", "
            << counted("connections_open", "connection") << '\n'
            << "  requests  " << count("requests_allowed") << " allowed, "
            << count("requests_denied") << " denied, " << count("requests_would_deny")
            << " would be denied\n"
            << "  bytes     " << bytes_text(number_of(answer, "bytes_up")) << " up, "
            << bytes_text(number_of(answer, "bytes_down")) << " down\n"
            << "  audit     " << counted("audit_events", "line") << ", "
            << counted("audit_gaps", "gap") << '\n';
  if (has(answer, "audit_problem")) {
    std::cout << terminal.coloured("  AUDIT LOG: ", Colour::red)
              << Cell{text_of(answer, "audit_problem")}.text << "\n  next: stile doctor\n";
  }
}

void print_fleet(const Json& answer, const Terminal& terminal) {
  if (!has(answer, "fleet")) return;
  const Json& fleet = object_of(answer, "fleet");
  std::cout << "  fleet     ";
  if (flag_of(fleet, "offline"))
    std::cout << terminal.coloured("offline by the fleet, ", Colour::red);
  if (flag_of(fleet, "connected")) {
    std::cout << "connected";
  } else {
    std::cout << terminal.coloured("not connected for ", Colour::yellow)
              << seconds_text(number_of(fleet, "age_seconds"));
  }
  for (const auto& [name, serial] : object_of(fleet, "serials").members()) {
    std::cout << ", " << Cell{name}.text << ' ' << serial.number();
  }
  std::cout << '\n';
  for (const auto& one : list_of(fleet, "refused")) {
    std::cout << terminal.coloured("  refused   ", Colour::yellow)
              << Cell{text_of(one, "name")}.text << ": " << Cell{text_of(one, "reason")}.text
              << '\n';
  }
}

int print_status(const Json& answer, const Terminal& terminal) {
  const Cell mode{text_of(answer, "mode")};
  std::cout << "stiled " << Cell{text_of(answer, "version")}.text << ", up "
            << seconds_text(number_of(answer, "uptime_seconds")) << ", mode "
            << terminal.coloured(mode.text, mode_colour(mode.text)) << ", policy "
            << number_of(answer, "generation") << ", workers " << number_of(answer, "workers")
            << '\n';
  if (flag_of(answer, "draining")) {
    std::cout
        << terminal.coloured("  draining: ", Colour::yellow)
        << "new requests are refused; the daemon ends with the last connection, at the latest in "
        << seconds_text(number_of(answer, "drain_seconds_left")) << '\n';
  }
  if (text_of(answer, "capture") == "missing") {
    std::cout << terminal.coloured("  capture   ", Colour::yellow)
              << "not served: programs that know no proxy cannot resolve names\n"
              << "  next: stile-netns repair\n";
  }
  if (const Json& fences = object_of(answer, "containment"); number_of(fences, "failed") > 0) {
    std::cout << terminal.coloured("  FENCE     ", Colour::red) << "the last check failed for "
              << number_of(fences, "failed") << " of "
              << audit::counted(number_of(fences, "checked"), "agent") << "; "
              << Cell{text_of(fences, "problem")}.text << "\n  next: stile-netns check\n";
  }
  print_totals(answer, terminal);
  print_fleet(answer, terminal);
  print_open_asks(answer, terminal);
  print_rejected_cards(answer, terminal);
  return fine;
}

}  // namespace

void add_status(Command& stile) {
  auto options = std::make_shared<ControlOptions>();
  auto command = stile.add("status", "show the state of the daemon (also: stile alone)");
  add_control_options(command, *options);
  command.examples("Examples:\n  stile\n  stile status --json | jq .generation");
  command.does([options] {
    return ask(*options, Access::look, {{"action", "status"}}, print_status);
  });
}

}  // namespace stile::cli
