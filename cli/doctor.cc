// stile doctor: checks everything that Stile needs, and prints what is wrong and what to type.
#include <iostream>
#include <memory>

#include "audit/text.h"
#include "base/table.h"
#include "cli/command_list.h"
#include "cli/doctor_checks.h"

namespace stile::cli {
namespace {

struct DoctorOptions {
  ControlOptions control;
  std::optional<std::string> config;
};

Findings examine(const DoctorOptions& options) {
  Findings findings;
  std::optional<UsedConfig> config;
  check_config(options.config, findings, config);
  const Json status = check_daemon(options.control, findings);
  check_fleet(status, findings);
  if (config) {
    const auto& settings = config->loaded.settings;
    if (!status.is_null()) check_listeners(settings, findings);
    check_dns(settings, findings);
    check_audit(settings, status, findings);
    check_disk(settings, findings);
    check_clock(settings, findings);
    check_permissions(settings, findings);
  }
  check_fence(findings);
  return findings;
}

const char* word_of(FindingState state) {
  switch (state) {
    case FindingState::good:
      return "ok";
    case FindingState::unsure:
      return "unsure";
    case FindingState::wrong:
      break;
  }
  return "WRONG";
}

Colour colour_of_doctor(FindingState state) {
  if (state == FindingState::good) return Colour::green;
  return state == FindingState::unsure ? Colour::yellow : Colour::red;
}

void print_doctor(const Findings& findings, std::size_t wrong, const Terminal& terminal) {
  for (const auto& finding : findings) {
    const std::string word = word_of(finding.state);
    std::cout << terminal.coloured(word, colour_of_doctor(finding.state))
              << std::string(8 - word.size(), ' ') << finding.subject
              << std::string(finding.subject.size() < 12 ? 12 - finding.subject.size() : 1, ' ')
              << Cell{finding.detail}.text << '\n';
    if (!finding.next.empty())
      std::cout << std::string(20, ' ') << "next: " << finding.next << '\n';
  }
  if (wrong == 0) {
    std::cout << "nothing is wrong\n";
  } else {
    std::cout << audit::counted(wrong, "thing") << (wrong == 1 ? " is" : " are") << " wrong\n";
  }
}

Json findings_json(const Findings& findings, bool is_fine) {
  Json checks = Json::list();
  for (const auto& finding : findings) {
    const char* state = finding.state == FindingState::wrong ? "wrong" : word_of(finding.state);
    checks.add({{"check", finding.subject},
                {"state", state},
                {"detail", finding.detail},
                {"next", finding.next}});
  }
  return {{"ok", is_fine}, {"checks", checks}};
}

int run_doctor(const DoctorOptions& options) {
  const auto findings = examine(options);
  std::size_t wrong = 0;
  for (const auto& finding : findings) wrong += finding.state == FindingState::wrong ? 1 : 0;
  if (options.control.json) {
    std::cout << dump(findings_json(findings, wrong == 0)) << '\n';
  } else {
    print_doctor(findings, wrong, Terminal::of_output());
  }
  return wrong == 0 ? fine : failed;
}

}  // namespace

void add_doctor(Command& stile) {
  auto options = std::make_shared<DoctorOptions>();
  auto command = stile.add("doctor", "check everything that Stile needs; print what to do");
  command.option("-c,--config", options->config,
                 "the daemon's config (default: what stiled would read without -c)");
  add_control_options(command, options->control);
  command.examples(
      "Examples:\n"
      "  stile doctor\n"
      "  sudo stile doctor                   with what only root can see\n"
      "  stile doctor --json | jq -r '.checks[] | select(.state == \"wrong\").next'\n"
      "Exit status: 1 if anything is wrong. What cannot be checked from here is unsure, not "
      "wrong.");
  command.does([options] { return run_doctor(*options); });
}

}  // namespace stile::cli
