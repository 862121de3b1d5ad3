// check: reads a config and all files that it names, and reports its contents or its errors.
#include "config/check_config.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <exception>
#include <functional>

#include "base/quoted.h"
#include "base/system_error.h"
#include "config/accounts.h"
#include "config/compile.h"
#include "config/effective.h"
#include "config/embedded.h"
#include "config/lint.h"
#include "config/load.h"

namespace stile::config {
namespace {

UnixMicros now() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count();
}

std::string plural(std::size_t count, const std::string& word) {
  return std::to_string(count) + ' ' + word + (count == 1 ? "" : "s");
}

// The daemon does not start without these. Here they may be missing: a config can be checked on
// another host than its own.
void warn_of_missing_names(const Settings& settings, Diagnostics& warnings) {
  const auto warn = [&](const char* key, const std::string& what, const std::string& name) {
    warnings.warning(place_of(settings.file, settings.keys, "server", key),
                     std::string{"server."} + key,
                     what + ' ' + in_quotes(name) + " does not exist on this host",
                     "stiled does not start without it");
  };
  const auto& control = settings.server.control_group;
  const auto& read_only = settings.server.read_only_group;
  const auto& user = settings.server.user;
  if (!control.empty() && !find_group(control)) warn("control_group", "group", control);
  if (!read_only.empty() && !find_group(read_only)) warn("read_only_group", "group", read_only);
  if (!user.empty() && !find_user(user)) warn("user", "user", user);
  for (const auto& agent : settings.agent) {
    const auto& group = agent.listen_group;
    if (group.empty() || find_group(group)) continue;
    warnings.warning(agent.place, "agent.listen_group",
                     "group " + in_quotes(group) + " does not exist on this host",
                     "stiled does not start without it");
  }
}

// Nor without these files, but for the hosts file.
void warn_of_missing_files(const Loaded& loaded, const SharedParts& shared, Diagnostics& warnings) {
  Diagnostics problems;
  shared.secrets.read_values(loaded.owner, now(), problems);
  for (const auto& item : problems.items()) {
    warnings.warning(item.place, item.key, item.problem, "stiled does not start without it");
  }
  const auto& settings = loaded.settings;
  const auto warn = [&](const char* section, const char* key, const std::string& path,
                        const char* hint) {
    if (::access(path.c_str(), R_OK) == 0) return;
    warnings.warning(place_of(settings.file, settings.keys, section, key),
                     std::string{section} + '.' + key, path + ": " + error_text(errno), hint);
  };
  for (const auto& path : settings.intercept.trust) {
    warn("intercept", "trust", path, "stiled does not start without it");
  }
  if (!settings.dns.hosts_file.empty()) {
    warn("dns", "hosts_file", settings.dns.hosts_file, "stiled finds no name there");
  }
}

std::size_t count_rules(const Loaded& loaded) {
  std::size_t count = loaded.settings.egress.deny.size();
  for (const auto* agents : {&loaded.settings.agent, &loaded.cards.accepted}) {
    for (const auto& agent : *agents) count += agent.allow.size() + agent.deny.size();
  }
  for (const auto& [path, rules] : loaded.lists.all()) {
    if (rules) count += (*rules)->size();
  }
  return count;
}

void print_listeners(const Loaded& loaded, std::ostream& out) {
  out << "  listeners ";
  bool is_first = true;
  const auto add = [&](const std::string& text) {
    out << (is_first ? " " : ", ") << text;
    is_first = false;
  };
  for (const auto& endpoint : loaded.settings.server.listen) add(endpoint.text());
  for (const auto* agents : {&loaded.settings.agent, &loaded.cards.accepted}) {
    for (const auto& agent : *agents) {
      for (const auto& endpoint : agent.listen) add(endpoint.text() + " (" + agent.id + ')');
    }
  }
  out << (is_first ? " none\n" : "\n");
}

void print_summary(const Loaded& loaded, std::size_t warnings, std::ostream& out) {
  const auto& cards = loaded.cards;
  const auto& file = loaded.settings.file;
  out << (file.empty() ? embedded_name : file)
      << (cards.rejected.empty() ? " is fine\n" : " can be used, but not all of its agent cards\n")
      << "  agents     " << loaded.settings.agent.size() + cards.accepted.size() << " ("
      << plural(cards.accepted.size(), "card") << ", " << cards.rejected.size() << " refused)\n"
      << "  rules      " << count_rules(loaded) << " ("
      << plural(loaded.lists.all().size(), "list file") << ")\n";
  print_listeners(loaded, out);
  out << "  warnings   " << warnings << '\n' << "  digest     " << loaded.digest << '\n';
}

int run(Checked<Loaded> loaded, bool reads_files, std::ostream& out, std::ostream& err,
        const CheckOptions& options) {
  if (!loaded) {
    err << loaded.error().text();
    return 1;
  }
  auto shared = share(*loaded);
  const auto policies = compile_all(*loaded, shared);
  if (!policies) {
    err << policies.error().text();
    return 1;
  }
  auto warnings = lint(*loaded, *policies, now());
  warn_of_missing_names(loaded->settings, warnings);
  if (reads_files) warn_of_missing_files(*loaded, shared, warnings);
  warnings.sort();
  err << warnings.text();
  for (const auto& card : loaded->cards.rejected) {
    for (const auto& item : card.problems.items()) err << "card refused: " << item.text() << '\n';
  }
  print_summary(*loaded, warnings.items().size(), out);
  if (options.effective) {
    out << '\n';
    print_effective(*loaded, out);
  }
  return options.cards_count && !loaded->cards.rejected.empty() ? 1 : 0;
}

int guarded(std::ostream& err, const std::function<int()>& work) {
  try {
    return work();
  } catch (const std::exception& error) {  // no memory
    err << "cannot be checked: " << error.what() << '\n';
    return 1;
  }
}

}  // namespace

int check(const std::optional<std::string>& path, std::ostream& out, std::ostream& err,
          const CheckOptions& options) {
  return guarded(err, [&] { return run(load_or_default(path), true, out, err, options); });
}

int check_text(std::string_view text, const std::string& name, std::ostream& out, std::ostream& err,
               const CheckOptions& options) {
  return guarded(err, [&] { return run(load_text(text, name), false, out, err, options); });
}

}  // namespace stile::config
