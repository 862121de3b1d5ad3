// FleetLayer: lays the policies of a fleet below the settings of this host's files.
#include "config/fleet_layer.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "config/json_loader.h"
#include "config/list_values.h"
#include "config/schema.h"
#include "config/settings_reader.h"

namespace stile::config {
namespace {

struct Table {
  const Node& node;
  const Node::Table& members;
};
// What is neither a list nor a table in it is reported.
std::vector<Table> tables_in(const Node& node, const Reader& reader, std::string_view list_type,
                             std::string_view type) {
  std::vector<Table> tables;
  const auto* list = node.as<Node::Array>();
  if (list == nullptr) {
    reader.wrong_type(node, list_type);
    return tables;
  }
  for (const auto& element : *list) {
    const auto* table = element.as<Node::Table>();
    if (table == nullptr) {
      reader.wrong_type(element, type);
    } else {
      tables.push_back({element, *table});
    }
  }
  return tables;
}

template <class T>
void append(std::vector<T>& into, std::vector<T> more) {
  std::move(more.begin(), more.end(), std::back_inserter(into));
}

class Layering {
 public:
  Layering(Settings& settings, Diagnostics& problems) : settings_{settings}, problems_{problems} {
    for (const auto& key : settings.keys) {
      if (key.section == "egress") taken_.insert(std::string{key.name});
    }
    for (const auto& secret : settings.secret) secrets_.insert(secret.name);
    for (const auto& scan : settings.scan) scans_.insert(scan.name);
  }

  void add(const FleetPolicy& policy, const std::map<std::string, FleetSlice>& slices) {
    const auto document = parse_json(policy.body, policy.file());
    if (!document) return problems_.append(document.error());
    const auto* table = document->as<Node::Table>();
    Reader reader{problems_, policy.file(), std::nullopt, {}};
    if (table == nullptr) {
      reader.wrong_type(*document, "an object");
      return;
    }
    for (const auto& member : *table) {
      reader.key = member.key;
      if (member.key == "egress") {
        add_egress(member.value, reader);
      } else if (member.key == "agent") {
        add_agents(member.value, reader, policy, slices);
      } else if (member.key == "secret") {
        add_secrets(member.value, reader);
      } else if (member.key == "scan") {
        add_scans(member.value, reader);
      } else if (member.key == "grant") {
        add_grants(member.value, reader, policy);
      } else {
        unknown_key(member, reader, {"egress", "agent", "secret", "scan", "grant"});
      }
    }
  }

 private:
  void add_egress(const Node& node, Reader reader) {
    const auto* table = node.as<Node::Table>();
    if (table == nullptr) {
      reader.wrong_type(node, "an object");
      return;
    }
    std::set<std::string> own;
    for (const auto& member : *table) {
      reader.key = "egress." + member.key.substr(0, 64);
      const auto* key = find_key("egress", member.key);
      if (key == nullptr) {
        unknown_key(member, reader, key_names("egress"));
        continue;
      }
      Settings read;  // also a value that does not count must be valid
      key->read(member.value, reader, read);
      if (add_to_lists(member.key, read.egress, reader.file)) continue;
      if (member.key == "mode" && read.egress.mode == acl::Mode::offline) {
        settings_.egress.mode = acl::Mode::offline;
      } else if (taken_.count(member.key) == 0) {
        own.insert(member.key);
        if (member.key == "mode" && settings_.egress.mode == acl::Mode::offline) continue;
        key->read(member.value, reader, settings_);
      }
    }
    taken_.merge(own);
  }

  // What is forbidden adds up: neither a file nor another policy can undo it.
  bool add_to_lists(std::string_view name, EgressSettings& read, const std::string& file) {
    auto& egress = settings_.egress;
    if (name == "deny") {
      if (!read.deny.empty()) egress.fleet_deny.push_back({file, std::move(read.deny)});
    } else if (name == "deny_files") {
      append(egress.deny_files, std::move(read.deny_files));
    } else if (name == "forbid_addresses") {
      append(egress.forbid_addresses, std::move(read.forbid_addresses));
    } else {
      return false;
    }
    return true;
  }

  void add_agents(const Node& node, const Reader& reader, const FleetPolicy& policy,
                  const std::map<std::string, FleetSlice>& slices) {
    const auto tables = tables_in(node, reader, "a list of agents", "an agent (object)");
    for (const auto& [element, table] : tables) {
      FleetAgent agent{policy.file(), json_text(element), policy.not_after, 0, 0};
      for (const auto& member : table) {
        const auto* id = member.value.as<std::string>();
        if ((member.key != "id" && member.key != "agent_id") || id == nullptr) continue;
        if (const auto slice = slices.find(*id); slice != slices.end()) {
          agent.slice_bytes = slice->second.bytes;
          agent.exhausted_bytes = slice->second.exhausted;
        }
      }
      settings_.fleet_agents.push_back(std::move(agent));
    }
  }

  void add_grants(const Node& node, Reader reader, const FleetPolicy& policy) {
    const auto tables = tables_in(node, reader, "a list of grants", "a grant (object)");
    for (const auto& [element, table] : tables) {
      FleetGrant grant{policy.file(), {}, {}, policy.not_after};
      for (const auto& member : table) {
        reader.key = "grant." + member.key.substr(0, 64);
        if (member.key == "agent") {
          grant.agent = AgentId::read(member.value, reader).value_or("");
        } else if (member.key == "hosts") {
          grant.hosts = List<PatternElement>::read(member.value, reader)
                            .value_or(std::vector<PlacedPattern>{});
        } else if (member.key == "expires") {
          const auto end = Expiry::read(member.value, reader);
          if (end) grant.expires = std::min(grant.expires, *end);
        } else {
          unknown_key(member, reader, {"agent", "hosts", "expires"});
        }
      }
      if (grant.agent.empty() || grant.hosts.empty()) {
        reader.key = "grant";
        reader.error(element, "a grant has an agent and hosts");
      } else {
        settings_.egress.fleet_grants.push_back(std::move(grant));
      }
    }
  }

  void add_secrets(const Node& node, const Reader& reader) {
    const auto tables = tables_in(node, reader, "a list of secrets", "a secret (object)");
    for (const auto& [element, table] : tables) {
      auto secret = read_secret(element, table, reader);
      if (!secret.command.empty()) {
        reader.error(element, "a fleet's policy cannot run commands on a host",
                     "name a file or a credential");
      } else if (is_key_of_the_fleet(secret.file)) {
        reader.error(element, secret.file + " is this host's own key to the fleet");
      } else if (secrets_.insert(secret.name).second) {
        secret.is_of_fleet = true;
        settings_.secret.push_back(std::move(secret));
      }
    }
  }

  // A secret goes out in requests: what this host proves itself with must not.
  [[nodiscard]] bool is_key_of_the_fleet(const std::string& file) const {
    for (const auto* own : {&settings_.fleet.key, &settings_.fleet.password_file}) {
      std::error_code failed;
      if (!own->empty() && !file.empty() && std::filesystem::equivalent(*own, file, failed)) {
        return true;
      }
    }
    return false;
  }

  void add_scans(const Node& node, const Reader& reader) {
    const auto tables = tables_in(node, reader, "a list of scans", "a scan (object)");
    for (const auto& [element, table] : tables) {
      auto scan = read_scan(element, table, reader);
      if (scans_.insert(scan.name).second) settings_.scan.push_back(std::move(scan));
    }
  }

  Settings& settings_;
  Diagnostics& problems_;
  std::set<std::string> taken_;  // keys of [egress] that the files or an earlier policy have
  std::set<std::string> secrets_, scans_;
};

}  // namespace

void lay_under(Settings& settings, const FleetLayer& layer, Diagnostics& problems) {
  Layering layering{settings, problems};
  for (const auto& policy : layer.policies) layering.add(policy, layer.slices);
}

}  // namespace stile::config
