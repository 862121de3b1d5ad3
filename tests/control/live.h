// A LivePolicy of a config that is written in a test.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "acl/decide.h"
#include "config/load.h"
#include "control/live_policy.h"

namespace stile::control {

inline PolicyReader reader_of(const std::string& toml) {
  return [toml](const config::FleetLayer&) -> config::Checked<Reading> {
    auto settings = config::parse_settings(toml, "t.toml");
    if (!settings) return settings.error();
    config::Loaded loaded{std::move(*settings), {}, config::ListFileCache{0}, {}, 0, "digest"};
    config::Diagnostics problems;
    loaded.claims.claim_server(loaded.settings, problems);
    for (const auto& agent : loaded.settings.agent) loaded.claims.claim(agent, problems);
    auto shared = std::make_unique<config::SharedParts>(config::share(loaded));
    auto agents = config::compile_all(loaded, *shared);
    if (!agents) return agents.error();
    return Reading{std::move(loaded), std::move(shared), std::move(*agents)};
  };
}

inline FilePolicyPtr base_of(const std::string& toml) {
  auto base = read_file_policy(reader_of(toml));
  EXPECT_TRUE(base) << (base ? "" : base.error().text());
  return base ? std::move(*base) : nullptr;
}

inline LivePolicy live_of(const std::string& toml, const SavedState& saved = {}) {
  return LivePolicy{base_of(toml), saved};
}

// The reason for which a tunnel to port 443 of that host is refused; "none" if it is not.
inline std::string_view reason(const LivePolicy& live, std::string_view agent,
                               std::string_view host, UnixMicros now = 1) {
  const auto* policy = live.snapshot()->by_id(agent);
  acl::Query query;
  query.agent = policy == nullptr ? nullptr : policy->get();
  query.authority = {host, "443", true};
  query.now = now;
  return acl::text(acl::decide(query).reason);
}

inline std::vector<acl::Pattern> patterns(std::initializer_list<const char*> texts) {
  std::vector<acl::Pattern> all;
  for (const auto* text : texts) all.push_back(*acl::Pattern::parse(text));
  return all;
}

}  // namespace stile::control
