// stile profile: lists and shows what `stile run` gives to known agents.
#include "config/profile.h"

#include <iostream>
#include <memory>

#include "base/contains.h"
#include "base/json_value.h"
#include "base/quoted.h"
#include "base/table.h"
#include "cli/command_list.h"

namespace stile::cli {
namespace {

struct ProfileOptions {
  std::string name;
  bool json = false;
};

Json texts_of(const std::vector<config::PlacedPattern>& patterns) {
  auto list = Json::list();
  for (const auto& placed : patterns) list.add(placed.pattern.text());
  return list;
}

Json json_of(const config::Profile& profile) {
  Json variables{};
  for (const auto& [name, value] : profile.environment) variables.set(name, value);
  auto secrets = Json::list();
  for (const auto& secret : profile.secrets) {
    secrets.add({{"name", secret.name},
                 {"hosts", texts_of(secret.hosts)},
                 {"header", secret.header},
                 {"agent_env", secret.agent_env},
                 {"file", secret.file}});
  }
  return {{"name", profile.name},     {"file", profile.file},
          {"about", profile.about},   {"allow", texts_of(profile.allow)},
          {"read", profile.read},     {"write", profile.write},
          {"environment", variables}, {"harmless", texts_of(profile.harmless)},
          {"secrets", secrets}};
}

int fail(const config::Diagnostics& problems) {
  std::cerr << "stile: " << problems.text();
  return failed;
}

void print(const config::Profile& profile) {
  const auto line = [](const char* title, const std::string& text) {
    if (!text.empty()) std::cout << title << printable(text) << '\n';
  };
  std::cout << profile.name << ": " << printable(profile.about) << '\n';
  line("file      ", profile.file);
  line("reaches   ", joined(texts_of(profile.allow)));
  line("reads     ", joined(Json{profile.read}));
  line("writes    ", joined(Json{profile.write}));
  for (const auto& [name, value] : profile.environment) line("sets      ", name + '=' + value);
  for (const auto& secret : profile.secrets) {
    line("secret    ", secret.agent_env + (secret.file.empty() ? "" : " or " + secret.file) +
                           " for " + joined(texts_of(secret.hosts)));
  }
  for (const auto& request : profile.requests) {
    line("then      ",
         request.host.pattern.text() + (request.websocket ? " also by WebSocket" : ""));
  }
  line("expected refusals  ", joined(texts_of(profile.harmless)));
  std::cout << "  use it: stile run --profile " << profile.name << " -- COMMAND\n";
}

int list_profiles(const std::vector<std::string>& directories, bool is_json) {
  Table table{{{"PROFILE"}, {"ABOUT", Fit::cut_end}, {"FILE", Fit::cut_start}}};
  auto list = Json::list();
  for (const auto& name : config::profile_names(directories)) {
    const auto profile = config::load_profile(name, directories);
    if (!profile) return fail(profile.error());
    table.add({profile->name, profile->about, profile->file});
    list.add(json_of(*profile));
  }
  if (is_json) {
    std::cout << Json{{"profiles", list}}.dump() << '\n';
  } else if (table.is_empty()) {
    std::cerr << "stile: there are no profiles in " << joined(Json{directories})
              << "\n  note: name their directory in STILE_PROFILES (in the sources: profiles)\n";
    return failed;
  } else {
    table.print(std::cout, Terminal::of_output());
  }
  return fine;
}

int run_profile(const ProfileOptions& options) {
  const auto directories = config::profile_directories();
  if (options.name.empty()) return list_profiles(directories, options.json);
  const auto profile = config::load_profile(options.name, directories);
  if (!profile) {
    const int status = fail(profile.error());
    const auto known = config::profile_names(directories);
    const bool is_known = contains(known, options.name);
    if (!is_known) std::cerr << "  next: stile profile\n";
    return status;
  }
  if (options.json) {
    std::cout << json_of(*profile).dump() << '\n';
  } else {
    print(*profile);
  }
  return fine;
}

}  // namespace

void add_profile(Command& stile) {
  auto options = std::make_shared<ProfileOptions>();
  auto command =
      stile.add("profile", "show what stile run gives to known agents: hosts, files, variables");
  command.word("NAME", options->name, "show this one (default: list all)");
  command.flag("--json", options->json, "print JSON, for scripts");
  command.examples("Examples:\n  stile profile\n  stile profile claude");
  command.does([options] { return run_profile(*options); });
}

}  // namespace stile::cli
