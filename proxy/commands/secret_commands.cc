// Commands about opened hosts: the secrets without their values, and what an agent has to trust.
#include "base/json.h"
#include "base/unix_time.h"
#include "proxy/commands/commands.h"

namespace stile::commands {
namespace {

std::string_view source_of(const config::SecretSettings& secret) {
  if (!secret.command.empty()) return "command";
  if (!secret.credential.empty()) return "credential";
  return secret.file.empty() ? "variable" : "file";
}

std::vector<std::string> agents_with(const control::LivePolicy& policy, const std::string& name) {
  std::vector<std::string> ids;
  for (const auto& agent : policy.snapshot()->agents()) {
    if (!agent->inside) continue;
    const auto& secrets = agent->inside->secrets;
    const bool has_it =
        std::any_of(secrets.begin(), secrets.end(),
                    [&](const acl::AgentSecret& one) { return one.secret->name == name; });
    if (has_it) ids.push_back(agent->id);
  }
  return ids;
}

void add_secret(std::string& out, const config::Secrets::Entry& entry,
                const std::vector<std::string>& agents) {
  const acl::Secret& secret = *entry.secret;
  const acl::SecretValue& value = *secret.value;
  std::vector<std::string> hosts;
  for (const auto& host : secret.hosts) hosts.push_back(host.text());
  JsonObject object{out};
  object.add("name", secret.name).add("hosts", hosts).add("header", secret.header);
  object.add("agents", agents).add("source", source_of(entry.settings));
  if (!secret.agent_env.empty()) object.add("agent_env", secret.agent_env);
  if (!secret.placeholder.empty()) object.add("placeholder", secret.placeholder);
  object.add("has_value", value.get() != nullptr);
  if (value.get()) object.add("age_seconds", (unix_micros() - value.changed_us()) / 1'000'000);
  if (const auto used = value.used_us(); used != 0) object.add("last_used", time_text(used));
}

}  // namespace

void Commands::secrets(const Request&, const Client& client) {
  const auto& policy = editor_.policy();
  std::string out;
  {
    JsonObject object{out};
    object.add("ok", true);
    JsonArray list{object.key("secrets")};
    for (const auto& [name, entry] : policy.base().shared.secrets.all()) {
      add_secret(list.next(), entry, agents_with(policy, name));
    }
  }
  client->answer(std::move(out));
}

// For launchers: the CA if the agent has opened hosts, and its variables with placeholders.
void Commands::trust(const Request& request, const Client& client) {
  const control::LivePolicy::Running* running = nullptr;
  if (!request.agent.empty()) {
    running = find(request.agent, client);
    if (running == nullptr) return;
  }
  const bool is_opened = running == nullptr || running->policy->inside != nullptr;
  std::string out;
  {
    JsonObject object{out};
    object.add("ok", true);
    object.add("ca", is_opened && daemon_.trusted_ca ? daemon_.trusted_ca() : std::string{});
    JsonObject variables{object.key("environment")};
    if (running != nullptr && is_opened) {
      for (const auto& [secret, placeholder] : running->policy->inside->secrets) {
        if (!secret->agent_env.empty()) variables.add(secret->agent_env, placeholder);
      }
    }
  }
  client->answer(std::move(out));
}

}  // namespace stile::commands
