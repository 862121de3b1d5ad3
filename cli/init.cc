// stile init: writes a first config, from questions or from the requests in a log.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "audit/show.h"
#include "audit/text.h"
#include "base/contains.h"
#include "base/files.h"
#include "base/quoted.h"
#include "base/system_error.h"
#include "cli/allowlist.h"
#include "cli/argument_checks.h"
#include "cli/command_list.h"
#include "cli/control_command.h"
#include "cli/read_logs.h"
#include "config/accounts.h"
#include "config/embedded.h"
#include "config/endpoint.h"
#include "config/load.h"

namespace stile::cli {
namespace {

constexpr std::size_t most_sources = 64;  // of one agent

struct InitOptions {
  std::vector<std::string> logs;
  std::string write;
};

struct FirstAgent {
  std::string id;
  std::vector<std::string> source;
  std::vector<SuggestedRule> allow, allow_ip;
  std::vector<std::string> remarks;
};

struct FirstConfig {
  std::string listen = "127.0.0.1:3128";
  std::string mode = "enforce";
  std::vector<FirstAgent> agents;
};

std::string toml_text(const std::string& text) { return '"' + text + '"'; }

void append_rules(std::ostream& out, const char* key, const std::vector<SuggestedRule>& rules) {
  out << key << " = [";
  for (const auto& rule : rules) out << "\n  " << toml_text(rule.pattern) << ',';
  out << (rules.empty() ? "]\n" : "\n]\n");
}

// The package makes this group; the daemon does not start without it, unless the config says so.
bool is_installed() { return config::find_group("stile-admin").has_value(); }

std::string config_text(const FirstConfig& config) {
  std::ostringstream out;
  out << "# Made by stile init. All keys with their defaults: man stile.toml\n\n"
      << "[server]\nlisten = [" << toml_text(config.listen) << "]\n";
  std::string log = "/var/log/stile/audit.jsonl";
  if (!is_installed()) {
    const auto server = config::embedded_default().server;
    log = server.state_dir + "/audit.jsonl";
    out << "# Stile is not installed on this host: places for a daemon that this user starts.\n"
        << "control = " << toml_text(server.control) << "\ncontrol_group = \"\"\n"
        << "state_dir = " << toml_text(server.state_dir) << '\n';
    if (::geteuid() != 0)
      out << "\n[agents]\ndirectories = []   # those of the system belong to root\n";
  }
  out << "\n[egress]\nmode = " << toml_text(config.mode) << "   # enforce, observe or offline\n\n"
      << "[audit]\npath = " << toml_text(log) << '\n';
  for (const auto& agent : config.agents) {
    out << "\n[[agent]]\nid = " << toml_text(agent.id) << "\nsource = [";
    for (const auto& source : agent.source) {
      out << (&source == &agent.source.front() ? "" : ", ") << toml_text(source);
    }
    out << "]\n";
    append_rules(out, "allow", agent.allow);
    if (!agent.allow_ip.empty()) append_rules(out, "allow_ip", agent.allow_ip);
    for (const auto& remark : agent.remarks) out << "# not allowed: " << remark << '\n';
  }
  return out.str();
}

// Uses the terminal itself, so that standard output can go into a file.
class Questions {
 public:
  // Empty lines select the default. An invalid answer is asked again.
  std::optional<std::string> ask(const std::string& question, const std::string& usual,
                                 std::string (*problem)(const std::string&)) {
    while (true) {
      std::cerr << question << " [" << usual << "]: " << std::flush;
      std::string answer;
      if (!std::getline(std::cin, answer)) return {};
      if (answer.empty()) answer = usual;
      const auto wrong = problem(answer);
      if (wrong.empty()) return answer;
      std::cerr << "  " << wrong << '\n';
    }
  }
};

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream in{text};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string check_id(const std::string& text) {
  const auto settings = config::parse_settings("[[agent]]\nid = \"" + text + "\"\n", "");
  const bool is_plain = text.find_first_of("\"\\\n") == std::string::npos;
  return settings && is_plain ? "" : "use lower-case letters, digits and hyphens";
}
std::string check_source(const std::string& text) {
  for (const auto& word : words_in(text)) {
    if (const auto prefix = acl::Prefix::parse(word); !prefix) {
      return in_quotes(word) + " is not an address like 10.200.0.2 or 10.200.0.0/24";
    }
  }
  return words_in(text).empty() ? "enter at least one address" : "";
}
std::string check_hosts(const std::string& text) {
  for (const auto& word : words_in(text)) {
    if (auto problem = check_pattern(word); !problem.empty()) return problem;
    if (word.find_first_of("\"\\") != std::string::npos)
      return "a regex with \\ or \" cannot be entered here; add it to the file later";
  }
  return {};
}
std::string check_endpoint(const std::string& text) {
  const auto settings = config::parse_settings("[server]\nlisten = [\"" + text + "\"]\n", "");
  const bool is_plain = text.find_first_of("\"\\\n") == std::string::npos;
  return settings && is_plain ? "" : "enter an address and a port, like 127.0.0.1:3128";
}
std::string check_mode_word(const std::string& text) {
  return text == "enforce" || text == "observe" ? "" : "enter enforce or observe";
}

CommandOutcome<FirstConfig> ask_questions() {
  if (::isatty(STDIN_FILENO) == 0) {
    return CommandFailure{misused, "no-terminal",
                          "cannot ask questions: standard input is not a terminal",
                          "stile init --audit LOG   # or run it on a terminal"};
  }
  Questions questions;
  const auto id = questions.ask("name of the first agent", "alpha", check_id);
  const auto source =
      id ? questions.ask("addresses that it comes from", "127.0.0.0/8", check_source)
         : std::nullopt;
  const auto hosts = source ? questions.ask("hosts that it may reach, separated by blanks",
                                            "api.anthropic.com api.openai.com", check_hosts)
                            : std::nullopt;
  const auto listen =
      hosts ? questions.ask("where the proxy listens", "127.0.0.1:3128", check_endpoint)
            : std::nullopt;
  const auto mode = listen ? questions.ask("enforce the list, or only observe at first", "enforce",
                                           check_mode_word)
                           : std::nullopt;
  if (!mode) return CommandFailure{failed, "no-answer", "not all questions were answered", {}};
  FirstAgent agent{*id, words_in(*source), {}, {}, {}};
  for (const auto& host : words_in(*hosts)) agent.allow.push_back({host, 0, 0});
  return FirstConfig{*listen, *mode, {std::move(agent)}};
}

// The source addresses of each agent in the logs.
std::map<std::string, std::set<std::string>> sources_in(const std::vector<std::string>& logs) {
  std::map<std::string, std::set<std::string>> sources;
  const auto note = [&](const audit::Line& line, std::string_view) {
    auto source = std::string{line.raw(audit::Key::src)};  // address:port
    source.resize(std::min(source.rfind(':'), source.size()));
    if (source.starts_with('[')) source = source.substr(1, source.size() - 2);
    if (!acl::Address::parse(source)) return;
    auto& known = sources[line.text(audit::Key::agent)];
    if (known.size() < most_sources) known.insert(std::move(source));
  };
  std::ostringstream ignored;  // invalid lines were already reported
  static_cast<void>(audit::read_lines(logs, note, ignored));
  return sources;
}

// A first config must not allow what a policy has refused: an agent chooses what it asks for.
void leave_out_refused(AgentAllowlist& list) {
  const auto was_let_through = [](const SuggestedRule& rule) { return rule.let_through > 0; };
  const auto refused = std::stable_partition(list.allow.begin(), list.allow.end(), was_let_through);
  for (auto rule = refused; rule != list.allow.end(); ++rule) {
    list.remarks.push_back(rule->pattern + ", refused " + audit::counted(rule->refused, "time"));
  }
  list.allow.erase(refused, list.allow.end());
}

CommandOutcome<FirstConfig> read_from(const std::vector<std::string>& logs) {
  const auto seen = read_logs(logs);
  if (!seen) return seen.error();
  auto sources = sources_in(logs);
  FirstConfig config;
  for (auto& list : make_allowlists(*seen, {{}, {}, true, false, {}})) {
    const auto& known = sources[list.agent];
    leave_out_refused(list);
    config.agents.push_back({list.agent,
                             {known.begin(), known.end()},
                             std::move(list.allow),
                             std::move(list.allow_ip),
                             std::move(list.remarks)});
  }
  if (config.agents.empty()) {
    return CommandFailure{failed, "no-log", "this log has no requests", {}};
  }
  return config;
}

// Never overwrites an existing file.
CommandOutcome<void> write_new(const std::string& path, const std::string& text) {
  const UniqueFd fd{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)};
  if (!fd && errno == EEXIST) {
    return CommandFailure{failed, "conflict", path + " already exists and was not changed",
                          "stile init | diff " + path + " -"};
  }
  if (!fd) {
    return CommandFailure{
        failed, "cannot-save", "cannot write " + path + ": " + error_text(errno), {}};
  }
  if (write_all(fd.get(), text) && ::fsync(fd.get()) == 0) return {};
  ::unlink(path.c_str());
  return CommandFailure{failed, "cannot-save", "cannot write " + path + ": is the disk full?",
                        "df -h"};
}

int run_init(const InitOptions& options) {
  const ControlOptions control;
  if (contains(options.logs, "-")) {
    return misuse(
        "init",
        "--audit: standard input cannot be used, because the log is read twice; name a file");
  }
  const auto config = options.logs.empty() ? ask_questions() : read_from(options.logs);
  if (!config) return report(config.error(), control);
  const auto text = config_text(*config);
  const auto checked = config::parse_settings(text, options.write.empty() ? "init" : options.write);
  if (!checked) {
    return report({failed, "config-error", checked.error().text(), {}}, control);
  }
  if (options.write.empty()) {
    std::cout << text;
    return fine;
  }
  if (const auto written = write_new(options.write, text); !written) {
    return report(written.error(), control);
  }
  const auto file = shell_word(options.write);
  std::cout << "wrote " << options.write << "\n  next: stile check " << file
            << (is_installed() ? "" : " && stiled -c " + file) << '\n';
  return fine;
}

}  // namespace

void add_init(Command& stile) {
  auto options = std::make_shared<InitOptions>();
  auto command = stile.add("init", "make a first config, from questions or from a log");
  command
      .options("--audit", options->logs,
               "allow what these logs have seen, instead of asking; see `stile run --observe`")
      .shown_as("LOG");
  command.option("--write", options->write, "write it to this file, which must not exist yet")
      .shown_as("FILE");
  command.examples(
      "Examples:\n"
      "  stile init --write stile.toml                       asks a few questions\n"
      "  stile init --audit seen.jsonl > stile.toml          from what was observed\n"
      "Hosts that were refused are listed as comments.\n"
      "Read what comes from a log before you use it: an agent chooses what it asks for.");
  command.does([options] { return run_init(*options); });
}

}  // namespace stile::cli
