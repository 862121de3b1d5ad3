// stile audit: reads audit logs; checks their hash chain, or prints them for people.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "audit/show.h"
#include "audit/verify.h"
#include "base/quoted.h"
#include "cli/advisor.h"
#include "cli/argument_checks.h"
#include "cli/command_list.h"
#include "cli/from_daemon.h"
#include "cli/output_as_json.h"
#include "cli/used_config.h"

namespace stile::cli {
namespace {

constexpr std::size_t most_advice = 10;   // at the end of a listing
constexpr std::size_t most_agents = 100;  // agents to name if none matches

struct AuditOptions {
  std::vector<std::string> files;
  audit::VerifyOptions verify;
  audit::ShowOptions show;
  std::string since;
  ControlOptions control;
};

CommandOutcome<std::vector<std::string>> logs_of(const AuditOptions& options,
                                                 const std::string& command) {
  if (!options.files.empty()) return options.files;
  auto config = read_config({});
  if (!config) return config.error();
  auto logs = audit_logs({}, std::move(*config));
  if (logs) return logs;
  CommandFailure failure = logs.error();
  failure.advice = "journalctl -u stiled -o cat | " + command + " -";
  failure.note = "if the log is in a file: " + command + " FILE";
  return failure;
}

int verify_logs(const AuditOptions& options) {
  const auto logs = logs_of(options, "stile audit verify");
  if (!logs) return report(logs.error(), options.control);
  const bool is_hidden = std::any_of(logs->begin(), logs->end(), [](const auto& file) {
    return ::access(file.c_str(), R_OK) != 0 && errno == EACCES;
  });
  if (is_hidden) {
    return report({failed, "no-permission", "no permission to read the log", as_root()},
                  options.control);
  }
  const auto check = [&](std::ostream& out, std::ostream& err) {
    return audit::verify(*logs, options.verify, out, err);
  };
  return options.control.json ? print_as_json(check) : check(std::cout, std::cerr);
}

// "host-not-allowed alpha a.example:443": the subject of the advice below it. Still escaped.
std::string refusal_text(const audit::Line& line) {
  using audit::Key;
  std::string text{line.raw(Key::reason)};
  for (const Key key : {Key::agent, Key::host}) {
    if (!line.raw(key).empty()) text.append(" ").append(line.raw(key));
  }
  if (!line.raw(Key::port).empty()) text.append(":").append(line.raw(Key::port));
  return text + '\n';
}

// Prints the selected lines, and records what helps the user if few lines match.
class Shower {
 public:
  Shower(const AuditOptions& options, audit::ShowOptions filter)
      : options_{options}, filter_{std::move(filter)}, advisor_{options.control} {}

  void operator()(const audit::Line& line, std::string_view text) {
    if (agents_.size() < most_agents) agents_.insert(line.text(audit::Key::agent));
    if (!audit::matches(line, filter_)) return;
    ++shown_;
    if (options_.control.json) {
      std::cout << text << '\n';
      return;
    }
    std::cout << audit::describe(line) << '\n';
    if (filter_.denied_only && advice_.size() < most_advice) {
      if (const auto advice = advice_text(advisor_.after(line), "  "); !advice.empty()) {
        advice_.push_back(refusal_text(line) + advice);
      }
    }
  }

  // On standard error, so that a pipe gets only the log.
  void end() {
    std::cout.flush();
    for (const auto& advice : advice_) std::cerr << advice;
    agents_.erase("");
    if (shown_ > 0 || filter_.agent.empty() || agents_.count(filter_.agent) > 0) return;
    std::cerr << "stile: no line of agent " << in_quotes(filter_.agent) << "; the log has "
              << (agents_.empty() ? "no line of any agent" : "lines of");
    for (const auto& agent : agents_) {
      std::cerr << (agent == *agents_.begin() ? " " : ", ") << in_quotes(agent);
    }
    std::cerr << '\n';
  }

 private:
  const AuditOptions& options_;
  audit::ShowOptions filter_;
  Advisor advisor_;
  std::vector<std::string> advice_;
  std::set<std::string> agents_;
  std::size_t shown_ = 0;
};

// If a socket was named, the log of its daemon is meant, wherever that log is.
bool asks_the_daemon(const AuditOptions& options) {
  const char* variable = std::getenv("STILE_SOCKET");
  const bool is_named = !options.control.socket.empty() || (variable != nullptr && *variable != 0);
  return options.files.empty() && is_named;
}

bool are_readable(const std::vector<std::string>& files) {
  return std::all_of(files.begin(), files.end(),
                     [](const auto& file) { return ::access(file.c_str(), R_OK) == 0; });
}

// The named files; else the log of the config. The daemon sends that log to callers who may not
// read it themselves.
int show_logs(const AuditOptions& options) {
  auto filter = options.show;
  if (!options.since.empty()) filter.since = since_stamp(options.since);
  Shower shower{options, std::move(filter)};
  const auto logs = asks_the_daemon(options)
                        ? CommandOutcome<std::vector<std::string>>{CommandFailure{}}
                        : logs_of(options, "stile audit show");
  if (logs && (!options.files.empty() || are_readable(*logs))) {
    const int status = audit::read_lines(*logs, std::ref(shower), std::cerr);
    shower.end();
    return status;
  }
  const auto given = read_daemon_log(options.control, false, [&](std::string_view text) {
    audit::Line line;
    if (audit::read_line(text, line) == audit::LineKind::whole) shower(line, text);
  });
  if (!given)
    return report(logs || asks_the_daemon(options) ? given.error() : logs.error(), options.control);
  shower.end();
  return fine;
}

void add_verify(Command& audit) {
  auto options = std::make_shared<AuditOptions>();
  auto command = audit.add("verify", "check the hash chain; report the first damaged line");
  command.words("FILE", options->files,
                "logs, oldest first; - is standard input (default: the log of the config)");
  command.option("--head", options->verify.head,
                 "a hash from the journal; a line of the files must have it");
  command.flag("--json", options->control.json, "print JSON, for scripts");
  command.examples(
      "Examples:\n"
      "  stile audit verify\n"
      "  stile audit verify audit.jsonl.2 audit.jsonl.1 audit.jsonl\n"
      "  journalctl -u stiled -g 'audit: .* head'    prints the hashes for --head");
  command.does([options] { return verify_logs(*options); });
}

void add_show(Command& audit) {
  auto options = std::make_shared<AuditOptions>();
  auto command = audit.add("show", "print the lines of a log for people");
  command.words("FILE", options->files,
                "logs, oldest first; - is standard input (default: the daemon's log)");
  command.option("--agent", options->show.agent, "only this agent");
  command.flag("--denied", options->show.denied_only, "only what was, or would be, refused");
  command.option("--since", options->since, "only from then on: 10m, 2h, 2026-11-16T09:00:00Z")
      .check(check_since);
  add_control_options(command, options->control);
  command.examples(
      "Examples:\n"
      "  stile audit show --denied --since 10m\n"
      "  stile audit show --agent alpha /var/log/stile/audit.jsonl\n"
      "  zcat audit.jsonl.9.gz | stile audit show -\n"
      "With --denied, what to do about it follows on standard error.");
  command.does([options] { return show_logs(*options); });
}

}  // namespace

void add_audit(Command& stile) {
  auto command = stile.add("audit", "verify or show audit logs");
  command.examples("Examples:\n  stile audit show --denied --since 1h\n  stile audit verify");
  add_verify(command);
  add_show(command);
}

}  // namespace stile::cli
