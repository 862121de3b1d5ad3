// effective: prints the merged policy of each agent.
#include "config/effective.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/quoted.h"
#include "config/compile.h"
#include "config/inside_values.h"
#include "config/schema.h"

namespace stile::config {
namespace {

constexpr std::size_t comment_column = 40;

std::string place_text(const Place& place) {
  return place.line > 0 ? place.file + ':' + std::to_string(place.line) : "";
}

const Key<Settings>* global_key(std::string_view name) {
  const auto* found = find_key("egress", name);
  return found != nullptr ? found : find_key("limits", name);
}

void print_line(std::string_view name, const std::string& value,
                const std::vector<std::string>& comments, std::ostream& out) {
  std::string line = std::string{name} + " = " + value;
  std::string comment;
  for (const auto& part : comments) {
    if (!part.empty()) comment += (comment.empty() ? "# " : ", ") + part;
  }
  if (!comment.empty()) {
    line.resize(std::max(line.size() + 2, comment_column), ' ');
    line += comment;
  }
  out << line << '\n';
}

// Joins two printed lists.
std::string join_lists(const std::string& a, const std::string& b) {
  if (a == "[]") return b;
  if (b == "[]") return a;
  return a.substr(0, a.size() - 1) + ", " + b.substr(1);
}

bool is_added(std::string_view name) {
  return name == "deny" || name == "deny_files" || name == "forbid_addresses";
}

std::string count_text(const std::vector<std::string>& files, const ListFileCache& lists) {
  if (files.empty()) return "";
  std::size_t patterns = 0;
  for (const auto& file : files) {
    const auto found = lists.all().find(file);
    if (found != lists.all().end() && found->second) patterns += (*found->second)->size();
  }
  return std::to_string(patterns) + (patterns == 1 ? " pattern" : " patterns");
}

void print_key(const Key<AgentSettings>& key, const AgentSettings& agent, const Settings& settings,
               const ListFileCache& lists, std::ostream& out) {
  auto value = key.print(agent);
  auto own_place = place_text(place_of(agent.place.file, agent.keys, "agent", key.name));
  const auto* global = global_key(key.name);
  if (global == nullptr) {  // only the agent has this key
    const auto count = key.name == "allow_files" ? count_text(agent.allow_files, lists) : "";
    if (!value.empty()) print_line(key.name, value, {own_place, count}, out);
    return;
  }
  auto global_place = place_text(place_of(settings.file, settings.keys, global->section, key.name));
  if (is_added(key.name)) {
    auto files = agent.deny_files;
    const auto& more = settings.egress.deny_files;
    files.insert(files.end(), more.begin(), more.end());
    const auto count = key.name == "deny_files" ? count_text(files, lists) : "";
    print_line(key.name, join_lists(value, global->print(settings)),
               {own_place, global_place, count}, out);
  } else if (key.name == "mode" && settings.egress.mode == acl::Mode::offline) {
    print_line(key.name, global->print(settings), {global_place}, out);  // beats the agent's own
  } else if (value.empty()) {
    print_line(key.name, global->print(settings), {global_place}, out);
  } else {
    print_line(key.name, value, {own_place}, out);
  }
}

// What `can` stands for, as comments: in a config it would be written as [[agent.request]].
void print_capabilities(const AgentSettings& agent, CapabilityFiles& files, std::ostream& out) {
  if (agent.can.empty() || !files.get()) return;
  for (const auto& can : agent.can) {
    const auto requests = files.get()->expand(can.text);
    if (!requests) continue;  // reported when the policy was made
    out << "# " << printable(can.text) << '\n';
    for (const auto& request : *requests) out << "#   " << RequestElement::print(request) << '\n';
  }
}

}  // namespace

void print_effective(const AgentSettings& agent, const Settings& settings,
                     const ListFileCache& lists, CapabilityFiles& capabilities, std::ostream& out) {
  out << "[[agent]]\n";
  for (const auto& key : agent_keys()) print_key(key, agent, settings, lists, out);
  print_capabilities(agent, capabilities, out);
}

void print_effective(const Loaded& loaded, std::ostream& out) {
  bool is_first = true;
  CapabilityFiles capabilities{loaded.owner};
  for (const auto* agents : {&loaded.settings.agent, &loaded.cards.accepted}) {
    for (const auto& agent : *agents) {
      if (!is_first) out << '\n';
      is_first = false;
      print_effective(agent, loaded.settings, loaded.lists, capabilities, out);
    }
  }
}

}  // namespace stile::config
