// What `stile fleet status` shows: the objects in the store, the hosts, and who is behind.
#include "cli/fleet_status.h"

#include <iostream>

#include "audit/text.h"
#include "base/joined.h"
#include "base/quoted.h"
#include "base/table.h"
#include "base/unix_time.h"
#include "fleet/ledger.h"

namespace stile::cli {
namespace {

using fleet::Envelope, fleet::Overview;

// What a host has not taken yet, of what is for it.
std::string lag_of(const Json& entry, const std::string& host, const Overview& overview) {
  std::vector<std::string> labels;
  for (const auto& label : list_of(entry, "labels")) labels.push_back(label.text());
  std::string lag;
  for (const auto& [name, object] : overview.objects) {
    if (!object.problem.empty() || !fleet::applies_to(*object.envelope, host, labels)) continue;
    const auto applied = number_of(object_of(entry, "applied"), name);
    if (applied >= object.envelope->serial) continue;
    lag += (lag.empty() ? "" : ", ") + name + ' ' + std::to_string(applied) + " of " +
           std::to_string(object.envelope->serial);
  }
  return lag;
}

std::string refused_text(const Json& entry) {
  const auto text = [](const Json& one) {
    return text_of(one, "name") + ": " + text_of(one, "reason");
  };
  return joined_texts(list_of(entry, "refused"), text, "; ");
}

// Of the last checks that were reported on that host.
Cell fence_cell(const Json& containment) {
  const auto checked = number_of(containment, "checked");
  if (number_of(containment, "failed") > 0) {
    return {std::to_string(number_of(containment, "failed")) + " of " + std::to_string(checked) +
                " failed: " + text_of(containment, "problem"),
            Colour::red};
  }
  return {checked == 0 ? "not checked" : "holds"};
}

void print_objects(const Overview& overview, const Terminal& terminal) {
  Table table{{{"OBJECT"},
               {"SERIAL", Fit::number},
               {"FOR", Fit::cut_end},
               {"UNTIL"},
               {"PROBLEM", Fit::cut_end}}};
  for (const auto& [name, object] : overview.objects) {
    if (!object.envelope) {
      table.add({name, "-", "-", "-", Cell{object.problem, Colour::red}});
      continue;
    }
    const auto& envelope = *object.envelope;
    std::string shown = name;
    if (name == "switch") {
      shown += fleet::switch_of(envelope.body) == fleet::Switch::offline ? " offline" : " online";
    }
    table.add({shown, std::to_string(envelope.serial), targets_text(envelope),
               time_text(envelope.not_after), Cell{object.problem, Colour::red}});
  }
  table.print(std::cout, terminal);
}

void print_hosts(const Overview& overview, const Terminal& terminal) {
  Table table{{{"HOST"},
               {"VERSION"},
               {"MODE"},
               {"AGENTS", Fit::number},
               {"FENCE", Fit::cut_end},
               {"BEHIND", Fit::cut_end},
               {"REFUSES", Fit::cut_end}}};
  for (const auto& [host, text] : overview.hosts) {
    const Json entry = Json::parse(text);
    const auto mode = flag_of(entry, "offline") ? "offline" : text_of(entry, "mode");
    table.add({host, text_of(entry, "version"), mode, std::to_string(number_of(entry, "agents")),
               fence_cell(object_of(entry, "containment")),
               Cell{lag_of(entry, host, overview), Colour::yellow},
               Cell{refused_text(entry), Colour::red}});
  }
  table.print(std::cout, terminal);
}

}  // namespace

std::string targets_text(const Envelope& envelope) {
  if (envelope.hosts.empty() && envelope.labels.empty()) return "every host";
  std::string text;
  if (!envelope.hosts.empty()) text = "hosts " + joined(envelope.hosts);
  if (!envelope.labels.empty()) {
    text += (text.empty() ? "" : ", and ") + std::string{"hosts with the label "} +
            joined(envelope.labels);
  }
  return text;
}

void print_overview(const Overview& overview, const Terminal& terminal) {
  print_objects(overview, terminal);
  std::cout << '\n';
  print_hosts(overview, terminal);
  for (const auto& [agent, bytes] : overview.budgets) {
    std::cout << "budget of " << printable(agent) << ": " << printable(bytes)
              << " bytes up are handed out to hosts\n";
  }
  std::cout << audit::counted(overview.hosts.size(), "host") << " in the last 15 seconds\n";
}

Json as_json(const Overview& overview) {
  Json objects = Json::list(), hosts = Json::list(), budgets = Json::list();
  for (const auto& [name, object] : overview.objects) {
    Json one{{"name", name}, {"problem", object.problem}};
    if (object.envelope) one.set("serial", object.envelope->serial);
    if (object.envelope) one.set("not_after", time_text(object.envelope->not_after));
    objects.add(std::move(one));
  }
  for (const auto& [host, text] : overview.hosts) {
    Json entry = Json::parse(text);
    Json one{{"host", host}, {"behind", lag_of(entry, host, overview)}};
    for (const auto& [key, value] : entry.members()) one.set(key, value);
    hosts.add(std::move(one));
  }
  for (const auto& [agent, bytes] : overview.budgets) {
    budgets.add({{"agent", agent}, {"bytes_up", bytes}});
  }
  return {{"ok", true}, {"objects", objects}, {"hosts", hosts}, {"budgets", budgets}};
}

}  // namespace stile::cli
