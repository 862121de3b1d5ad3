// agent_detail: all about one agent, for people.
#include "cli/agent_detail.h"

#include <iostream>

#include "cli/command.h"
#include "cli/table.h"

namespace stile::cli {

Colour mode_colour(const std::string& mode) {
  if (mode == "enforce") return Colour::green;
  return mode == "offline" ? Colour::red : Colour::yellow;
}

int print_agent(const Json& answer, const Terminal&) {
  for (const auto& [key, value] : object_of(answer, "agent").items()) {
    const auto words = value.is_string() ? value.get<std::string>() : dump(value);
    std::cout << Cell{key}.text << ": " << Cell{words}.text << '\n';
  }
  return fine;
}

}  // namespace stile::cli
