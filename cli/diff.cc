// stile diff: what a new config would newly allow or refuse.
#include <iostream>
#include <memory>

#include "audit/text.h"
#include "cli/command_list.h"
#include "cli/control_command.h"
#include "cli/print_diff.h"
#include "cli/used_config.h"

namespace stile::cli {
namespace {

struct DiffOptions {
  ControlOptions control;
  std::optional<std::string> file, old;
  std::vector<std::string> logs;
};

// The first of these that exists: the named config, the running daemon, the log.
CommandOutcome<Judge> judge_before(const DiffOptions& options) {
  if (options.old) {
    auto config = read_config(options.old);
    if (!config) return config.error();
    return judge_of_config(config->name, config->policies);
  }
  auto client = connect(options.control, Access::look);
  if (client) return judge_of_daemon(std::make_shared<control::ControlClient>(std::move(*client)));
  if (!options.control.socket.empty()) return client.error();
  return judge_of_log();
}

int compare_by_log(const DiffOptions& options, const UsedConfig& config) {
  const auto seen = read_seen(options.logs, config);
  if (!seen) return report(seen.error(), options.control);
  const auto before = judge_before(options);
  if (!before) return report(before.error(), options.control);
  const auto after = judge_of_config(config.name, config.policies);
  const auto result = replay(*seen, *before, after);
  if (!result) return report(result.error(), options.control);
  if (options.control.json) {
    std::cout << dump(as_json(*result)) << '\n';
  } else {
    std::cout << "old: " << before->name << "\nnew: " << after.name << '\n'
              << audit::counted(result->requests, "request") << " to "
              << audit::counted(result->targets, "target") << " judged by both\n";
    print_replay(*result, Terminal::of_output());
  }
  return result->refused.empty() ? fine : failed;
}

int compare_by_rules(const DiffOptions& options, const UsedConfig& config) {
  const auto before = read_config(options.old);
  if (!before) return report(before.error(), options.control);
  const auto diffs = compare_rules(*before->policies, *config.policies);
  if (options.control.json) {
    std::cout << dump(as_json(diffs)) << '\n';
  } else {
    std::cout << "old: " << before->name << "\nnew: " << config.name << '\n';
    print_rule_diff(diffs, Terminal::of_output());
  }
  return fine;
}

int run_diff(const DiffOptions& options) {
  const auto config = read_config(options.file);
  if (!config) return report(config.error(), options.control);
  const bool has_other_config = options.file || options.old;
  const bool needs_log = !options.logs.empty() || !has_other_config;
  return needs_log ? compare_by_log(options, *config) : compare_by_rules(options, *config);
}

}  // namespace

void add_diff(Command& stile) {
  auto options = std::make_shared<DiffOptions>();
  auto command = stile.add("diff", "show what a new config would newly allow or refuse");
  command.word("FILE", options->file, "the new config (default: the one on disk)");
  command.options("--audit", options->logs, "judge the requests of these logs; - is stdin");
  command.option("--old", options->old,
                 "the config to compare with (default: the running daemon, else the log's "
                 "own verdicts; without a log: the config on disk)");
  add_control_options(command, options->control);
  command.examples(
      "Examples:\n"
      "  stile diff                                  what would `stile reload` change for the\n"
      "                                              requests in the log?\n"
      "  stile diff new.toml                         in which rules does it differ?\n"
      "  stile diff new.toml --audit audit.jsonl     what of this would newly be refused?\n"
      "With a log, the exit status is 1 if something would newly be refused.");
  command.does([options] { return run_diff(*options); });
}

}  // namespace stile::cli
