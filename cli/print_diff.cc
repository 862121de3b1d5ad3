// print_diff: prints the result of `stile diff`, for people and for programs.
#include "cli/print_diff.h"

#include <iostream>

#include "base/table.h"

namespace stile::cli {
namespace {

constexpr std::size_t listed_patterns = 20;

void print_rows(const char* title, Colour colour, const std::vector<ReplayRow>& rows,
                const Terminal& terminal) {
  if (rows.empty()) return;
  std::cout << '\n' << terminal.coloured(title, colour) << '\n';
  Table table{{{"AGENT", Fit::cut_end},
               {"TARGET", Fit::cut_start},
               {"REQUESTS", Fit::number, 1},
               {"OLD", Fit::whole, 2},
               {"NEW"},
               {"RULE", Fit::cut_end, 3}}};
  for (const auto& row : rows) {
    table.add({row.agent, row.target, std::to_string(row.count), row.before.text(),
               row.after.text(), row.after.rule.empty() ? row.before.rule : row.after.rule});
  }
  table.print(std::cout, terminal);
}

void print_patterns(char sign, const char* key, const std::vector<std::string>& patterns,
                    const Terminal& terminal) {
  const Colour colour = sign == '+' ? Colour::green : Colour::red;
  for (std::size_t i = 0; i < patterns.size() && i < listed_patterns; ++i) {
    const auto words = std::string{"  "} + sign + ' ' + key + ' ' + Cell{patterns[i]}.text;
    std::cout << terminal.coloured(words, colour) << '\n';
  }
  if (patterns.size() > listed_patterns) {
    std::cout << "  " << sign << ' ' << key << " … and " << patterns.size() - listed_patterns
              << " more (all of them: --json)\n";
  }
}

Json rows_as_json(const std::vector<ReplayRow>& rows) {
  Json list = Json::list();
  for (const auto& row : rows) {
    list.add({{"agent", row.agent},
              {"target", row.target},
              {"count", row.count},
              {"old", row.before.text()},
              {"new", row.after.text()},
              {"rule", row.after.rule}});
  }
  return list;
}

}  // namespace

void print_replay(const Replay& replay, const Terminal& terminal) {
  print_rows("newly refused", Colour::red, replay.refused, terminal);
  print_rows("newly allowed", Colour::green, replay.allowed, terminal);
  print_rows("still let through, but logged differently", Colour::yellow, replay.noted, terminal);
  if (replay.refused.empty() && replay.allowed.empty() && replay.noted.empty()) {
    std::cout << "no difference for any of them\n";
  }
}

void print_rule_diff(const std::vector<AgentDiff>& diffs, const Terminal& terminal) {
  if (diffs.empty()) std::cout << "no difference\n";
  for (const auto& diff : diffs) {
    std::cout << '\n'
              << terminal.coloured(diff.agent, Colour::bold) << ' ' << text(diff.kind) << '\n';
    print_patterns('+', "allow", diff.allow_added, terminal);
    print_patterns('-', "allow", diff.allow_removed, terminal);
    print_patterns('+', "deny", diff.deny_added, terminal);
    print_patterns('-', "deny", diff.deny_removed, terminal);
    for (const auto& setting : diff.settings) {
      std::cout << "  " << setting.key << ": " << Cell{setting.before}.text << " -> "
                << Cell{setting.after}.text << '\n';
    }
  }
}

Json as_json(const Replay& replay) {
  return {{"ok", true},
          {"requests", replay.requests},
          {"newly_refused", rows_as_json(replay.refused)},
          {"newly_allowed", rows_as_json(replay.allowed)},
          {"noted_otherwise", rows_as_json(replay.noted)}};
}

Json as_json(const std::vector<AgentDiff>& diffs) {
  Json agents = Json::list();
  for (const auto& diff : diffs) {
    Json settings = Json::list();
    for (const auto& setting : diff.settings) {
      settings.add({{"key", setting.key}, {"old", setting.before}, {"new", setting.after}});
    }
    agents.add({{"agent", diff.agent},
                {"change", text(diff.kind)},
                {"allow_added", diff.allow_added},
                {"allow_removed", diff.allow_removed},
                {"deny_added", diff.deny_added},
                {"deny_removed", diff.deny_removed},
                {"settings", settings}});
  }
  return {{"ok", true}, {"agents", agents}};
}

}  // namespace stile::cli
