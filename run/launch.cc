// launch: combines flags, card, profile and restriction into what one command may do.
#include "run/launch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/contains.h"
#include "base/files.h"
#include "base/system_error.h"
#include "base/unique_fd.h"
#include "base/unix_time.h"
#include "config/api_providers.h"
#include "config/capability.h"
#include "config/card.h"
#include "config/cross_checks.h"
#include "config/load.h"
#include "config/profile.h"
#include "config/secrets.h"
#include "config/trust.h"
#include "confine/place.h"
#include "confine/survey.h"

namespace stile::run {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_config_bytes = 16U << 20U;
constexpr std::size_t max_key_bytes = 4096;

struct TrustedText {
  std::string text;
  UnixMicros changed = 0;
};

std::optional<TrustedText> read_trusted(const std::string& path, std::size_t max_bytes,
                                        config::Diagnostics& problems) {
  const auto opened = config::open_trusted(path, std::nullopt);
  if (!opened) {
    problems.file_error(path, opened.error().message);
    return std::nullopt;
  }
  auto text = read_all(opened->file.get(), max_bytes);
  if (!text) {
    problems.file_error(path, text.error().message);
    return std::nullopt;
  }
  const auto& changed = opened->status.st_mtim;
  return TrustedText{std::move(*text), changed.tv_sec * 1'000'000 + changed.tv_nsec / 1'000};
}

// Everything in a config except its agents and their cards.
config::Settings read_config(const Options& options, config::Diagnostics& problems) {
  if (!options.config) return {};
  const auto text = read_trusted(*options.config, max_config_bytes, problems);
  if (!text) return {};
  auto settings = config::parse_settings(text->text, *options.config);
  if (!settings) {
    problems.append(settings.error());
    return {};
  }
  settings->agent.clear();
  return std::move(*settings);
}

void add_patterns(const std::vector<std::string>& texts, const char* flag,
                  std::vector<config::PlacedPattern>& to, config::Diagnostics& problems) {
  for (const auto& text : texts) {
    auto pattern = acl::Pattern::parse(text);
    if (pattern) {
      to.push_back({std::move(*pattern), 0});
    } else {
      problems.error({}, flag, pattern.error().message);
    }
  }
}

// Added to the values of the card or, if the card has none, of the config.
void add_ech(const std::vector<std::string>& patterns, const config::EgressSettings& egress,
             config::AgentSettings& agent, config::Diagnostics& problems) {
  if (patterns.empty()) return;
  if (!agent.ech) agent.ech = egress.ech;
  add_patterns(patterns, "--ech", agent.ech->hosts, problems);
}

// A variable of the same name is replaced.
void set_variable(const config::Variable& variable, std::vector<config::Variable>& to) {
  std::erase_if(to, [&](const config::Variable& one) { return one.name == variable.name; });
  to.push_back(variable);
}

bool is_there(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

// Its author is not trusted, so it is opened without following links, and only if it is a file.
std::optional<std::string> read_untrusted(const std::string& path, config::Diagnostics& problems) {
  const auto place = confine::named_place(path, "--restrict");
  if (!place) {
    problems.error({}, "", place.error().message);
    return std::nullopt;
  }
  const auto seen = confine::open_place(*place);
  const UniqueFd file{seen ? ::open(("/proc/self/fd/" + std::to_string(seen.get())).c_str(),
                                    O_RDONLY | O_NONBLOCK | O_CLOEXEC)
                           : -1};
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    problems.file_error(path, file ? "not a regular file" : error_text(errno));
    return std::nullopt;
  }
  auto text = read_all(file.get(), config::max_restriction_bytes);
  if (!text) {
    problems.file_error(path, text.error().message);
    return std::nullopt;
  }
  return std::move(*text);
}

class Preparation {
 public:
  Preparation(const Options& options, const std::vector<std::string>& environment)
      : options_{options}, environment_{environment} {}

  config::Checked<Launch> prepare() {
    launch_.settings = read_config(options_, problems_);
    launch_.is_connected = options_.connect.has_value();
    agent().id = default_agent;
    agent().place.file = "the command line";
    read_card();
    if (!problems_.has_errors()) choose_directory();
    if (problems_.has_errors()) return problems_;
    if (!options_.command.empty()) permissions().launch.command = options_.command;
    launch_.command = permissions().launch.command;
    if (launch_.command.empty()) {
      problems_.error({}, "", "no command: neither the card nor the command line names one");
      return problems_;
    }
    add_profile();
    add_flags();
    add_key();
    check();
    restrict();
    choose_secrets();  // last: a restriction must not take a placeholder away and show the value
    if (problems_.has_errors()) return problems_;
    return std::move(launch_);
  }

 private:
  config::Permissions& permissions() { return launch_.permissions; }
  config::AgentSettings& agent() { return permissions().agent; }

  void read_card() {
    if (!options_.card) return;
    auto text = read_trusted(*options_.card, config::max_card_bytes, problems_);
    if (!text) return;
    const auto directory = fs::path{*options_.card}.parent_path().string();
    const config::CardOrigin origin{*options_.card, text->changed,
                                    directory.empty() ? "." : directory};
    auto card = config::parse_card(text->text, origin);
    auto settings = config::parse_launch(text->text, origin);
    if (!card) problems_.append(card.error());
    if (!settings) problems_.append(settings.error());
    if (problems_.has_errors()) return;
    agent() = std::move(*card);
    permissions().launch = std::move(*settings);
    launch_.card = std::move(text->text);
  }

  void choose_directory() {
    const auto& workspace = permissions().launch.workspace;
    launch_.has_own_workspace = !workspace.empty() && options_.files != "host";
    std::error_code failed;
    if (workspace.empty()) {
      permissions().workspace = fs::current_path(failed).string();
      if (failed) {
        problems_.error({}, "", "the working directory cannot be found: " + failed.message());
      }
    } else if (auto place = confine::named_place(workspace, "workspace"); place) {
      permissions().workspace = std::move(*place);
      if (!fs::is_directory(permissions().workspace, failed)) {
        problems_.error({}, "workspace", workspace + " is not a directory");
      }
    } else {
      problems_.error({}, "", place.error().message);
    }
    launch_.identity = choose_identity(permissions().workspace);
    if (launch_.identity.is_changed) {
      launch_.home = launch_.identity.home.empty() ? "/tmp" : launch_.identity.home;
    } else if (auto home = variable(environment_, "HOME"); home.starts_with('/')) {
      launch_.home = std::move(home);
    }
  }

  // By itself only for a command that is found along PATH: a file called `claude` in a project is
  // not that program, and must not get its home.
  void add_profile() {
    const auto directories = config::profile_directories();
    const auto& name = options_.profile ? *options_.profile : launch_.command[0];
    if (options_.no_profile || (!options_.profile && !config::has_profile(name, directories))) {
      return;
    }
    const auto profile = config::load_profile(name, directories);
    if (!profile) return problems_.append(profile.error());
    launch_.notices.push_back("profile " + name + " (" + profile->file + "); see: stile profile " +
                              name);
    launch_.harmless = profile->harmless;
    agent().allow.insert(agent().allow.end(), profile->allow.begin(), profile->allow.end());
    for (const auto& text : profile->can) agent().can.push_back({text, 0, 0});
    auto variables = profile->environment;
    for (const auto& one : permissions().launch.environment) set_variable(one, variables);
    permissions().launch.environment = std::move(variables);
    for (const auto& secret : profile->secrets) add_profile_secret(secret);
    for (const auto& request : profile->requests) add_profile_request(request);
    add_home_paths(profile->read, permissions().launch.read);
    add_home_paths(profile->write, permissions().launch.write);
  }

  // Those that exist. A link is left out: an earlier command may have made it.
  void add_home_paths(const std::vector<std::string>& paths, std::vector<std::string>& to) {
    for (const auto& path : paths) {
      const bool is_home = path.starts_with("~/");
      if (is_home && launch_.home.empty()) continue;
      const auto full = is_home ? launch_.home + path.substr(1) : path;
      if (!is_there(full)) continue;
      if (auto place = confine::named_place(full, full); place) {
        to.push_back(std::move(*place));
      } else {
        launch_.notices.push_back("not shown: " + place.error().message);
      }
    }
  }

  void add_flags() {
    resolve(permissions().launch.read, "read");
    resolve(permissions().launch.write, "write");
    add_paths(options_.read, "--read", permissions().launch.read);
    add_paths(options_.write, "--write", permissions().launch.write);
    add_paths(options_.expose, "--expose", launch_.expose);
    add_patterns(options_.allow, "--allow", agent().allow, problems_);
    add_patterns(options_.deny, "--deny", agent().deny, problems_);
    for (const auto& text : options_.can) agent().can.push_back({text, 0, 0});
    add_ech(options_.ech, launch_.settings.egress, agent(), problems_);
    if (options_.observe) agent().mode = acl::Mode::observe;
    for (const auto& text : options_.secret) {
      auto secret = config::parse_secret(text);
      if (secret) {
        add_secret(std::move(*secret));
      } else {
        problems_.error({}, "--secret", secret.error().message);
      }
    }
  }

  // A later one of the same name, or for the same variable, replaces an earlier one: flags come
  // after the card and the profile.
  void add_secret(config::SecretSettings secret) {
    if (options_.connect) {
      problems_.error({}, "--secret",
                      "with --connect the daemon has the secrets; add one to its config");
      return;
    }
    if (!secret.file.empty()) {
      std::error_code failed;
      const auto real = fs::canonical(secret.file, failed);
      if (!failed) secret.file = real.string();
    }
    std::erase_if(launch_.settings.secret, [&](const config::SecretSettings& other) {
      const bool is_replaced = other.name == secret.name || other.agent_env == secret.agent_env;
      if (is_replaced) launch_.secret_values.erase(other.name);
      if (is_replaced) std::erase(agent().secrets, other.name);
      return is_replaced;
    });
    agent().secrets.push_back(secret.name);
    launch_.settings.secret.push_back(std::move(secret));
  }

  // Without a value there is no secret: people who log in have none.
  void add_profile_secret(config::SecretSettings secret) {
    if (options_.connect) return;
    auto value = variable(environment_, secret.agent_env);
    if (!value.empty()) {
      const auto good = acl::check_secret_value(value);
      if (!good) {
        problems_.error({}, secret.agent_env, good.error().message, "or use --no-profile");
        return;
      }
      secret.file.clear();
    } else {
      if (secret.file.starts_with("~/")) secret.file.replace(0, 1, launch_.home);
      if (secret.file.empty() || !is_there(secret.file)) return;
    }
    const auto name = secret.name;
    launch_.notices.push_back(secret.agent_env + " is a placeholder inside: Stile adds " +
                              (value.empty() ? secret.file : "its value") + " to requests to " +
                              secret.hosts.front().pattern.text());
    add_secret(std::move(secret));
    if (!value.empty()) launch_.secret_values[name] = std::move(value);
  }

  // Without the secret the host stays sealed, so that people who log in keep their own credential.
  void add_profile_request(const config::RequestSettings& request) {
    const auto is_host = [&](const config::PlacedPattern& host) {
      return host.pattern.text() == request.host.pattern.text();
    };
    const auto& secrets = launch_.settings.secret;
    if (std::any_of(secrets.begin(), secrets.end(), [&](const config::SecretSettings& secret) {
          return std::any_of(secret.hosts.begin(), secret.hosts.end(), is_host);
        })) {
      agent().request.push_back(request);
    }
  }

  void resolve(std::vector<std::string>& paths, const char* key) {
    const auto named = std::exchange(paths, {});
    add_paths(named, key, paths);
  }

  void add_paths(const std::vector<std::string>& paths, const char* flag,
                 std::vector<std::string>& to) {
    for (const auto& path : paths) {
      auto place = confine::named_place(path, flag);
      if (place) {
        to.push_back(std::move(*place));
      } else {
        problems_.error({}, "", place.error().message);
      }
    }
  }

  // The key of the card becomes a secret if it is known where it may go.
  void add_key() {
    const auto& path = permissions().launch.api_key_file;
    if (path.empty()) return;
    const auto& provider = *config::provider_named(permissions().launch.api_provider);
    if (!provider.host.empty() && !options_.connect) {
      auto secret = config::secret_of(provider);
      secret.file = path;
      return add_secret(std::move(secret));
    }
    auto text = read_trusted(path, max_key_bytes, problems_);
    if (!text) return;
    const auto end = text->text.find_last_not_of(" \t\r\n");
    text->text.resize(end == std::string::npos ? 0 : end + 1);
    if (text->text.empty() ||
        text->text.find_first_of(std::string_view{"\0\n\r", 3}) != std::string::npos) {
      problems_.file_error(path, "not one line with a key");
      return;
    }
    const std::string name{provider.variable};
    set_variable({name, std::move(text->text)}, permissions().launch.environment);
    launch_.notices.push_back(
        "the command can read the key of " + path + " in " + name + ": " +
        (options_.connect ? "with --connect, only a [[secret]] of the daemon keeps it out"
                          : "its host is not known; --secret NAME=FILE:HOST keeps it out"));
  }

  // Only what the agent uses, since nothing else should be read. Its variables get placeholders.
  void choose_secrets() {
    auto& secrets = launch_.settings.secret;
    std::erase_if(secrets, [&](const config::SecretSettings& secret) {
      const auto& used = agent().secrets;
      return !contains(used, secret.name);
    });
    const config::Secrets all{secrets};
    for (const auto& [name, entry] : all.all()) {
      if (entry.secret->agent_env.empty()) continue;
      set_variable({entry.secret->agent_env, acl::placeholder_of(agent().id, *entry.secret)},
                   permissions().launch.environment);
    }
  }

  void check() {
    // Identified by the listener inside; source addresses inside identify nothing.
    agent().source.clear();
    agent().listen.clear();
    config::check_agent(agent(), launch_.settings.netns, problems_);
    permissions().ports = agent().ports.value_or(launch_.settings.egress.ports);
    permissions().http_ports = agent().http_ports.value_or(launch_.settings.egress.http_ports);
  }

  // Where secrets are covered, unless they are named here themselves.
  std::vector<std::string> named_places() {
    auto places = permissions().launch.read;
    const auto& writable = permissions().launch.write;
    places.insert(places.end(), writable.begin(), writable.end());
    places.push_back(permissions().workspace);
    return places;
  }

  void restrict() {
    if (!options_.restriction || problems_.has_errors()) return;
    const auto& file = *options_.restriction;
    const auto text = read_untrusted(file, problems_);
    if (!text) return;
    const auto restriction = config::parse_restriction(*text, file, permissions().workspace);
    if (!restriction) return problems_.append(restriction.error());
    for (const auto* paths : {&restriction->read, &restriction->write}) {
      for (const auto& path : paths->value_or(std::vector<std::string>{})) {
        if (auto refused = confine::refuse_links(path, file); !refused) {
          problems_.error({}, "", refused.error().message);
        } else if (confine::is_in_secret(path, named_places())) {
          problems_.error({file, 0, 0}, "",
                          path +
                              " is hidden from the command, and to show it a"
                              " restriction is not enough");
        }
      }
    }
    if (!restriction->has_network && !(options_.publish.empty() && options_.host_port.empty())) {
      problems_.error({file, 0, 0}, "network",
                      "is false, so that --publish and --host-port cannot be used");
    }
    auto wide = permissions();
    config::CapabilityFiles capabilities{::geteuid()};
    wide.agent.request = config::all_requests(agent(), capabilities, problems_);
    if (problems_.has_errors()) return;
    auto narrowed = config::narrow(std::move(wide), *restriction, unix_micros());
    if (!narrowed) {
      const auto found = narrowed.error();  // error() returns a copy
      for (const auto& one : found.items()) {
        problems_.error({file, 0, 0}, one.key, one.problem);
      }
      return;
    }
    narrowed->agent.request = agent().request;  // those of `can` are added again with the policy
    permissions() = std::move(*narrowed);
    launch_.notices.push_back("restricted by " + file);
  }

  const Options& options_;
  const std::vector<std::string>& environment_;
  config::Diagnostics problems_;
  Launch launch_;
};

}  // namespace

std::string variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const auto& one : environment) {
    if (one.starts_with(name) && one.size() > name.size() && one[name.size()] == '=') {
      return one.substr(name.size() + 1);
    }
  }
  return {};
}

config::Checked<Launch> prepare_launch(const Options& options,
                                       const std::vector<std::string>& environment) {
  return Preparation{options, environment}.prepare();
}

}  // namespace stile::run
