// policy: makes the one agent that `stile run` serves from flags, a card and a config.
#include "run/policy.h"

#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <utility>

#include "config/card.h"
#include "config/checks.h"
#include "config/compile.h"
#include "config/load.h"
#include "config/trust.h"

namespace stile::run {
namespace {

constexpr std::size_t max_config_bytes = 16U << 20U;

struct Text {
  std::string text;
  acl::UnixMicros changed = 0;
};

std::optional<Text> read_trusted(const std::string& path, std::size_t max_bytes,
                                 config::Diagnostics& problems) {
  const auto opened = config::open_trusted(path, std::nullopt);
  if (!opened) {
    problems.file_error(path, opened.error().message);
    return std::nullopt;
  }
  auto text = opened->file.read_all(max_bytes);
  if (!text) {
    problems.file_error(path, text.error().message);
    return std::nullopt;
  }
  const auto& changed = opened->status.st_mtim;
  return Text{std::move(*text), changed.tv_sec * 1'000'000 + changed.tv_nsec / 1'000};
}

// Everything in a config except its agents and their cards.
config::Settings read_settings(const Options& options, config::Diagnostics& problems) {
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

config::AgentSettings read_agent(const Options& options, const config::Settings& settings,
                                 config::Diagnostics& problems) {
  config::AgentSettings agent;
  agent.id = default_agent;
  agent.place.file = "the command line";
  if (options.card) {
    const auto text = read_trusted(*options.card, config::max_card_bytes, problems);
    if (!text) return agent;
    const auto directory = std::filesystem::path{*options.card}.parent_path().string();
    auto card = config::parse_card(
        text->text, {*options.card, text->changed, directory.empty() ? "." : directory});
    if (!card) {
      problems.append(card.error());
      return agent;
    }
    agent = std::move(*card);
  }
  add_patterns(options.allow, "--allow", agent.allow, problems);
  add_patterns(options.deny, "--deny", agent.deny, problems);
  add_ech(options.ech, settings.egress, agent, problems);
  if (options.observe) agent.mode = acl::Mode::observe;
  // Identified by the listener inside; source addresses inside identify nothing.
  agent.source.clear();
  agent.listen.clear();
  config::check_agent(agent, settings.netns, problems);
  return agent;
}

}  // namespace

config::Checked<Policy> make_policy(const Options& options) {
  config::Diagnostics problems;
  auto settings = read_settings(options, problems);
  const auto agent = read_agent(options, settings, problems);
  config::ListFiles lists{::geteuid()};
  lists.get_all(settings.egress.deny_files,
                config::place_of(settings.file, settings.keys, "egress", "deny_files"),
                "egress.deny_files", nullptr, problems);
  if (problems.has_errors()) return problems;
  settings.agent = {agent};
  config::Loaded loaded{std::move(settings), {}, std::move(lists), {}, ::geteuid(), {}};
  auto shared = std::make_unique<config::Shared>(config::share(loaded));
  auto compiled = config::compile_agent(agent, *shared);
  if (!compiled) return compiled.error();
  control::Reading reading{std::move(loaded), std::move(shared), {std::move(*compiled)}};
  auto base =
      control::read_base([&]() -> config::Checked<control::Reading> { return std::move(reading); });
  if (!base) return base.error();
  return Policy{agent.id, std::move(*base)};
}

}  // namespace stile::run
