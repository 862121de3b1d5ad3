// written_settings: settings as the text of a stile.toml, every key of the schema in it.
#pragma once

#include <string>

#include "config/schema.h"

namespace stile::config {

inline std::string written_settings(const Settings& settings) {
  std::string out;
  for (const auto& section : sections()) {
    out += '[' + std::string{section.name} + "]\n";
    for (const auto& key : global_keys()) {
      if (key.section == section.name)
        out += std::string{key.name} + " = " + key.print(settings) + '\n';
    }
  }
  for (const auto& agent : settings.agent) {
    out += "[[agent]]\n";
    for (const auto& key : agent_keys()) {
      const auto value = key.print(agent);
      if (!value.empty()) out += std::string{key.name} + " = " + value + '\n';
    }
  }
  return out;
}

}  // namespace stile::config
