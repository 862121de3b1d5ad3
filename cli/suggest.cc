// stile suggest: prints the smallest allowlist that covers the requests in a log.
#include <unistd.h>

#include <iostream>
#include <memory>

#include "base/joined.h"
#include "base/quoted.h"
#include "cli/allowlist.h"
#include "cli/command_list.h"
#include "cli/control_command.h"
#include "cli/used_config.h"
#include "config/diagnostics.h"

namespace stile::cli {
namespace {

struct SuggestOptions {
  std::vector<std::string> logs;
  std::optional<std::string> config;
  std::string agent;
  bool without_denied = false, use_suffixes = false, json = false;
  bool as_flags = false, as_card = false;
};

std::string times(const SuggestedRule& rule) {
  std::string text;
  if (rule.let_through > 0) text += std::to_string(rule.let_through) + " let through";
  if (rule.refused > 0) {
    text += (text.empty() ? "" : ", ") + std::to_string(rule.refused) + " REFUSED until now";
  }
  if (!rule.looks_like.empty()) text += "; WARNING: it looks like " + rule.looks_like;
  return text;
}

void print_rules(const char* key, const std::vector<SuggestedRule>& rules) {
  std::size_t width = 0;
  for (const auto& rule : rules) width = std::max(width, rule.pattern.size());
  std::cout << key << " = [\n";
  for (const auto& rule : rules) {
    std::cout << "  \"" << rule.pattern << "\"," << std::string(width - rule.pattern.size(), ' ')
              << "  # " << times(rule) << '\n';
  }
  std::cout << "]\n";
}

// The agent chose these texts. The escapes of JSON are those of TOML.
std::string quoted_list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const auto& text : texts) out += (out.size() > 1 ? ", " : "") + dump(text);
  return out + ']';
}

std::vector<SuggestedRule> can_as_rules(const SuggestedRequests& inside) {
  std::vector<SuggestedRule> rules;
  for (const auto& can : inside.can) rules.push_back({can.text, can.let_through, can.refused});
  return rules;
}

// Tables come after the keys of the entry.
void print_requests(const SuggestedRequests& inside) {
  for (const auto& request : inside.requests) {
    std::cout << "[[agent.request]]  # " << times({"", request.let_through, request.refused})
              << "\nhost = \"" << request.host << "\"\nmethods = " << quoted_list(request.methods)
              << '\n';
    if (!request.paths.empty()) std::cout << "paths = " << quoted_list(request.paths) << '\n';
  }
}

void print_list(const AgentAllowlist& list, bool uses_suffixes) {
  std::cout << "\n[[agent]]\nid = \"" << printable(list.agent) << "\"\n";
  const bool has_inside = !list.inside.can.empty() || !list.inside.requests.empty();
  if (!list.allow.empty() || !has_inside) print_rules("allow", list.allow);
  if (!list.inside.can.empty()) print_rules("can", can_as_rules(list.inside));
  if (!list.allow_ip.empty()) print_rules("allow_ip", list.allow_ip);
  for (const auto& suffix : list.suffixes) {
    std::cout << "# " << suffix.pattern << (uses_suffixes ? " covers" : " would cover");
    for (const auto& host : suffix.covers) {
      std::cout << (&host == &suffix.covers.front() ? " " : ", ") << host;
    }
    std::cout << (uses_suffixes ? "\n" : ", and all else below it\n");
  }
  for (const auto& remark : list.remarks) std::cout << "# not suggested: " << remark << '\n';
  print_requests(list.inside);
}

Json as_json(const std::vector<SuggestedRule>& rules) {
  Json list = Json::list();
  for (const auto& rule : rules) {
    Json one{
        {"pattern", rule.pattern}, {"let_through", rule.let_through}, {"refused", rule.refused}};
    if (!rule.looks_like.empty()) one.set("looks_like", rule.looks_like);
    list.add(one);
  }
  return list;
}

// As in an agent card.
Json as_entry(const SuggestedRequest& request) {
  Json entry{{"host", request.host}, {"methods", request.methods}};
  if (!request.paths.empty()) entry.set("paths", request.paths);
  return entry;
}

Json as_json(const AgentAllowlist& list) {
  Json suffixes = Json::list();
  for (const auto& suffix : list.suffixes) {
    suffixes.add({{"pattern", suffix.pattern}, {"covers", suffix.covers}});
  }
  Json can = Json::list(), requests = Json::list();
  for (const auto& one : list.inside.can) {
    can.add({{"capability", one.text}, {"let_through", one.let_through}, {"refused", one.refused}});
  }
  for (const auto& one : list.inside.requests) {
    Json entry = as_entry(one);
    entry.set("let_through", one.let_through);
    entry.set("refused", one.refused);
    requests.add(entry);
  }
  return {{"agent", list.agent},
          {"can", can},
          {"request", requests},
          {"allow", as_json(list.allow)},
          {"allow_ip", as_json(list.allow_ip)},
          {"suffixes", suffixes},
          {"remarks", list.remarks}};
}

// The hosts of a list contain no bytes that are special to a shell.
void print_flags(const AgentAllowlist& list) {
  std::string flags;
  for (const auto& rule : list.allow) flags += " --allow " + rule.pattern;
  for (const auto& can : list.inside.can) {
    // A shell would split one with a parameter at its space.
    if (can.text.find(' ') == std::string::npos) {
      flags += " --can " + can.text;
    } else {
      std::cerr << "not a flag for $(…): --can '" << can.text << "'\n";
    }
  }
  for (const auto& request : list.inside.requests) {
    std::cerr << "not a flag: requests to " << request.host << "; see --card\n";
  }
  std::cout << (flags.empty() ? flags : flags.substr(1)) << '\n';
}

void print_card(const AgentAllowlist& list) {
  const auto print_list = [](const char* key, const std::vector<SuggestedRule>& rules) {
    std::cout << ",\n \"" << key << "\": [";
    for (const auto& rule : rules) {
      std::cout << (&rule == &rules.front() ? "" : ",") << "\n  " << dump(rule.pattern);
    }
    std::cout << ']';
  };
  std::cout << "{\"agent_id\": " << dump(list.agent);
  print_list("allowed_hosts", list.allow);
  if (!list.allow_ip.empty()) print_list("allow_ip", list.allow_ip);
  if (!list.inside.can.empty()) print_list("can", can_as_rules(list.inside));
  if (!list.inside.requests.empty()) {
    Json requests = Json::list();
    for (const auto& request : list.inside.requests) requests.add(as_entry(request));
    std::cout << ",\n \"request\": " << dump(requests);
  }
  std::cout << "}\n";
}

// Flags and cards are for one agent. They are printed alone, for use with $(…) and > FILE.
int print_for_one(const SuggestOptions& options, const std::vector<AgentAllowlist>& lists) {
  if (lists.size() != 1) {
    const auto names = joined_texts(lists, [](const AgentAllowlist& list) { return list.agent; });
    const bool is_none = lists.empty();
    return report({failed, "no-agent",
                   is_none ? "no requests in this log" : "the log has several agents: " + names,
                   is_none ? "" : typed_command() + " --agent " + lists.front().agent},
                  {});
  }
  const auto& list = lists.front();
  if (options.as_card) {
    print_card(list);
  } else {
    print_flags(list);
  }
  for (const auto& rule : list.allow) {
    if (rule.looks_like.empty()) continue;
    std::cerr << "WARNING: " << rule.pattern << " looks like " << rule.looks_like
              << ", which is allowed: a typing error, or an imitation\n";
  }
  for (const auto& rule : list.allow_ip) {
    if (!options.as_card) std::cerr << "not a flag: allow_ip " << rule.pattern << "; see --card\n";
  }
  for (const auto& remark : list.remarks) std::cerr << "not suggested: " << remark << '\n';
  return fine;
}

void print_suggest(const SuggestOptions& options, const std::vector<AgentAllowlist>& lists,
                   const Seen& seen) {
  if (options.json) {
    Json agents = Json::list();
    for (const auto& list : lists) agents.add(as_json(list));
    std::cout << dump({{"ok", true}, {"agents", agents}}) << '\n';
    return;
  }
  if (lists.empty()) {
    std::cout << "# no requests" << (options.agent.empty() ? "" : " by " + printable(options.agent))
              << " in this log\n";
    return;
  }
  std::cout << "# What was seen from " << seen.first() << " to " << seen.last() << ".\n"
            << "# Read it before you paste it: an agent chooses what it asks for.\n"
            << "# Put the keys into the agent's entry, then: stile check && stile reload\n";
  if (seen.without_host() > 0) {
    std::cout << "# " << seen.without_host()
              << " refusals came too fast for a line each; their hosts are not in the log.\n";
  }
  for (const auto& list : lists) print_list(list, options.use_suffixes);
}

// The default ports of an agent, as far as the config is known.
KnownPorts ports_of(const std::optional<UsedConfig>& config, const std::string& agent) {
  if (!config) return {};
  if (const auto* policy = config->policies->by_id(agent)) {
    return {(*policy)->ports, (*policy)->http_ports};
  }
  const auto& egress = config->loaded.settings.egress;
  return {egress.ports, egress.http_ports};
}

const acl::LookAlikes* look_alikes_of(const std::optional<UsedConfig>& config,
                                      const std::string& agent) {
  const auto* policy = config ? config->policies->by_id(agent) : nullptr;
  return policy == nullptr ? nullptr : (*policy)->look_alikes.get();
}

int run_suggest(const SuggestOptions& options) {
  const ControlOptions control{{}, options.json};
  std::optional<UsedConfig> config;
  if (auto read = read_config(options.config)) {
    config = std::move(*read);
  } else if (options.config || options.logs.empty()) {
    return report(read.error(), control);
  }  // else the log may be from another host: assume only the default ports
  const auto seen = read_seen(options.logs, config);
  if (!seen) return report(seen.error(), control);
  config::CapabilityFiles capabilities{::geteuid()};
  const auto lists = make_allowlists(
      *seen, {[&](const std::string& agent) { return ports_of(config, agent); }, options.agent,
              !options.without_denied, options.use_suffixes,
              [&](const std::string& agent) { return look_alikes_of(config, agent); },
              capabilities.get() ? &*capabilities.get() : nullptr});
  if (options.as_flags || options.as_card) return print_for_one(options, lists);
  print_suggest(options, lists, *seen);
  return fine;
}

}  // namespace

void add_suggest(Command& stile) {
  auto options = std::make_shared<SuggestOptions>();
  auto command = stile.add("suggest", "print the smallest allowlist for the requests in a log");
  command.options("--audit", options->logs,
                  "audit logs; - is standard input (default: the config's)");
  command.option("-c,--config", options->config,
                 "the config with the agents' default ports (default: the one in use)");
  command.option("--agent", options->agent, "only this agent");
  command.flag("--without-denied", options->without_denied,
               "leave out hosts that were only refused");
  command.flag("--suffixes", options->use_suffixes,
               "replace several hosts by one suffix; never by a public one");
  const auto json = command.flag("--json", options->json, "print JSON, for scripts");
  const auto card = command.flag("--card", options->as_card, "as an agent card").excludes(json);
  command.flag("--flags", options->as_flags, "as options of `stile run`")
      .excludes(json)
      .excludes(card);
  command.examples(
      "Examples:\n"
      "  stile mode observe alpha; …; stile suggest --agent alpha\n"
      "  stile suggest --audit audit.jsonl.1 audit.jsonl --without-denied\n"
      "  stile run $(stile suggest --audit seen.jsonl --flags) -- ./agent\n"
      "  stile suggest --agent alpha --card > alpha.json");
  command.does([options] { return run_suggest(*options); });
}

}  // namespace stile::cli
