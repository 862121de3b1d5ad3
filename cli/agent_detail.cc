// agent_detail: prints everything about one agent, for people.
#include "cli/agent_detail.h"

#include <iostream>

#include "audit/text.h"
#include "base/table.h"
#include "base/units.h"
#include "cli/command.h"

namespace stile::cli {
namespace {

constexpr std::size_t listed_rules = 30;

// "  label       words"; prints nothing if there are no words.
void print_line(const std::string& label, const std::string& words) {
  if (words.empty()) return;
  std::cout << "  " << label << std::string(label.size() < 12 ? 12 - label.size() : 1, ' ')
            << Cell{words}.text << '\n';
}

void print_patterns(const std::string& label, const Json& policy, const char* key) {
  const Json& patterns = list_of(policy, key);
  const auto count = number_of(policy, (std::string{key} + "_rules").c_str());
  for (std::size_t i = 0; i < patterns.size() && i < listed_rules; ++i) {
    print_line(i == 0 ? label : "", patterns.items()[i].text());
  }
  if (patterns.empty()) print_line(label, "nothing");
  if (count > listed_rules) {
    print_line("", "and " + audit::counted(count - listed_rules, "more rule"));
  }
}

void print_expiry(const Json& agent) {
  if (!has(agent, "expires")) return;
  const auto left = number_of(agent, "seconds_left");
  print_line("expires", text_of(agent, "expires") +
                            (left > 0 ? ", in " + seconds_text(left) : ", which is over"));
}

void print_counters(const Json& agent) {
  const Json& counters = object_of(agent, "counters");
  print_line("requests", text_of(counters, "requests_allowed") + " allowed, " +
                             text_of(counters, "requests_denied") + " denied, " +
                             text_of(counters, "requests_would_deny") + " would be denied");
  print_line("open", audit::counted(number_of(counters, "tunnels_open"), "tunnel") + ", " +
                         audit::counted(number_of(agent, "connections"), "connection"));
  print_line("bytes", bytes_text(number_of(counters, "bytes_up")) + " up, " +
                          bytes_text(number_of(counters, "bytes_down")) + " down");
}

void print_grants(const Json& grants, const Terminal& terminal) {
  Table table{{{"GRANT"},
               {"HOSTS", Fit::cut_end},
               {"TIME LEFT", Fit::number},
               {"REQUESTS LEFT", Fit::number, 1},
               {"BYTES LEFT", Fit::number, 1},
               {"BY", Fit::cut_end, 2},
               {"REASON", Fit::cut_end, 3}}};
  for (const Json& grant : grants) {
    const bool is_counted = has(grant, "bytes_up_left");
    table.add({text_of(grant, "id"), joined(list_of(grant, "hosts")),
               has(grant, "expires") ? seconds_text(number_of(grant, "seconds_left")) : "-",
               has(grant, "requests_left") ? text_of(grant, "requests_left") : "-",
               is_counted ? bytes_text(number_of(grant, "bytes_up_left")) : "-",
               text_of(grant, "actor"), text_of(grant, "reason")});
  }
  if (table.is_empty()) return;
  std::cout << '\n';
  table.print(std::cout, terminal);
}

}  // namespace

Colour mode_colour(const std::string& mode) {
  if (mode == "enforce") return Colour::green;
  return mode == "offline" ? Colour::red : Colour::yellow;
}

std::string budget_text(const Json& agent, const char* direction) {
  const Json& budget = object_of(object_of(agent, "budgets"), direction);
  if (!has(budget, "total")) return {};
  return bytes_text(number_of(budget, "left")) + " of " + bytes_text(number_of(budget, "total"));
}

std::string host_budget_text(const Json& budget) {
  std::string words;
  const auto add = [&](const char* key, const char* unit) {
    const Json& one = object_of(budget, key);
    if (!has(one, "total")) return;
    words += words.empty() ? "" : ", ";
    words += std::to_string(number_of(one, "left")) + " of " +
             std::to_string(number_of(one, "total")) + ' ' + unit;
  };
  add("max_requests", "requests");
  add("requests_per_minute", "requests in this minute");
  add("tokens", "tokens");
  return words;
}

int print_agent(const Json& answer, const Terminal& terminal) {
  const Json& agent = object_of(answer, "agent");
  const Json& policy = object_of(agent, "policy");
  const Cell mode{text_of(agent, "mode")};
  std::cout << terminal.coloured(Cell{text_of(agent, "id")}.text, Colour::bold) << ", mode "
            << terminal.coloured(mode.text, mode_colour(mode.text)) << ", from "
            << Cell{text_of(agent, "entry")}.text << '\n';
  print_line("source", joined(list_of(agent, "source")));
  print_expiry(agent);
  print_patterns("allow", policy, "allow");
  print_patterns("deny", policy, "deny");
  print_line("opened", joined(list_of(policy, "opened")));
  print_line("revoked", joined(list_of(agent, "revoked")));
  print_line("allow_ip", joined(list_of(policy, "allow_ip")));
  print_line("ports", joined(list_of(policy, "ports")));
  print_line("http_ports", joined(list_of(policy, "http_ports")));
  print_line("ech", text_of(policy, "ech"));
  print_line("unlisted", text_of(policy, "unlisted"));
  print_line("left up", budget_text(agent, "bytes_up"));
  print_line("left down", budget_text(agent, "bytes_down"));
  for (const Json& budget : list_of(agent, "host_budgets")) {
    print_line("left on", text_of(budget, "host") + ": " + host_budget_text(budget));
  }
  print_counters(agent);
  print_grants(list_of(agent, "grants"), terminal);
  return fine;
}

}  // namespace stile::cli
