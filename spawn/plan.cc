// plan: what one worker becomes.
#include "spawn/plan.h"

#include <utility>

#include "base/contains.h"
#include "base/quoted.h"
#include "config/card.h"
#include "config/narrow.h"
#include "confine/plan.h"
#include "spawn/texts.h"

namespace stile::spawn {
namespace {

using config::Node;

bool may_narrow(const Template& from, std::string_view key) { return contains(from.narrow, key); }

Result<config::Restriction> restriction_of(const Template& from, const Node& card,
                                           const std::string& workspace) {
  const auto* table = card.as<Node::Table>();
  if (table == nullptr) return Error{"card: must be a JSON object"};
  for (const auto& member : *table) {
    if (!may_narrow(from, member.key) || member.key == "tags") {
      return Error{"card: the template " + from.name + " lets callers not set " +
                   in_quotes(member.key)};
    }
  }
  auto restriction = config::read_restriction(card, "card", workspace);
  if (!restriction) return Error{"card: " + first_problem(restriction.error())};
  if (restriction->ttl_seconds && from.ttl_seconds != 0 &&
      *restriction->ttl_seconds > from.ttl_seconds) {
    return Error{"card: ttl_seconds: " + std::to_string(*restriction->ttl_seconds) +
                 " is more than the " + std::to_string(from.ttl_seconds) + " of the template"};
  }
  return std::move(*restriction);
}

// A path that would show a secret which the template covers.
Result<void> refuse_secrets(const config::Restriction& restriction,
                            const config::Permissions& permissions) {
  auto shown = permissions.launch.read;
  shown.insert(shown.end(), permissions.launch.write.begin(), permissions.launch.write.end());
  shown.push_back(permissions.workspace);
  for (const auto* paths : {&restriction.read, &restriction.write}) {
    for (const auto& path : paths->value_or(std::vector<std::string>{})) {
      if (confine::is_in_secret(path, shown)) {
        return Error{"card: " + in_quotes(path) + " is hidden from workers of this template"};
      }
    }
  }
  return {};
}

// The keys that narrowing changes, written back into the template's card.
Node card_of(const Template& from, const config::Permissions& narrowed) {
  Node card = from.card;
  if (card.as<Node::Table>() == nullptr) card = {Node::Table{}, {}};
  const auto& agent = narrowed.agent;
  card.set("allowed_hosts", patterns_node(agent.allow));
  card.remove("deny");
  card.set("denied_hosts", patterns_node(agent.deny));
  if (agent.allow_files.empty()) card.remove("allow_files");
  if (agent.allow_ip.empty()) card.remove("allow_ip");
  if (agent.mode == acl::Mode::offline) card.set("mode", {std::string{"offline"}, {}});
  return card;
}

}  // namespace

Result<WorkerPlan> plan_worker(const Template& from, const SpawnRequest& request,
                               const PlanFacts& facts) {
  if (!request.tags.empty() && !may_narrow(from, "tags")) {
    return Error{"the template " + from.name + " lets callers not set tags"};
  }
  auto permissions = from.permissions;
  permissions.workspace = facts.workspace;
  WorkerPlan plan;
  plan.ttl_seconds = from.ttl_seconds;
  if (request.card) {
    const auto restriction = restriction_of(from, *request.card, facts.workspace);
    if (!restriction) return restriction.error();
    if (auto done = refuse_secrets(*restriction, permissions); !done) return done.error();
    auto narrowed = config::narrow(std::move(permissions), *restriction, facts.now);
    if (!narrowed) return Error{"card: " + first_problem(narrowed.error())};
    permissions = std::move(*narrowed);
    plan.ttl_seconds = restriction->ttl_seconds.value_or(plan.ttl_seconds);
  }
  auto card = card_of(from, permissions);
  card.set("agent_id", {request.task_id, {}});
  card.set("ttl_seconds", {plan.ttl_seconds, {}});
  card.set("created", {time_text(facts.now - facts.now % micros_in_second), {}});
  plan.card = config::json_text(card);
  if (const auto checked = config::parse_card(plan.card, {"card", facts.now, {}}); !checked) {
    return Error{"card: " + first_problem(checked.error())};
  }
  auto& launch = permissions.launch;
  plan.limits = launch.limits;
  plan.tags = launch.tags;
  plan.tags.insert(plan.tags.end(), request.tags.begin(), request.tags.end());
  auto& file = plan.file;
  file.id = request.task_id;
  file.instance = facts.instance;
  file.workspace = facts.workspace;
  file.workspace_access = permissions.workspace_access;
  file.caller = facts.caller;
  file.command = std::move(launch.command);
  file.task = from.task;
  file.max_tasks = from.max_tasks;
  file.environment = std::move(launch.environment);
  file.read = std::move(launch.read);
  file.write = std::move(launch.write);
  file.disk_mb = launch.limits.disk_mb.value_or(0);
  file.max_processes = launch.limits.max_processes.value_or(0);
  return plan;
}

std::string policy_text(const WorkerPlan& plan) {
  std::string text = "card " + plan.card;
  if (plan.file.workspace_access == config::WorkspaceAccess::read) text += ", workspace read-only";
  if (plan.file.workspace_access == config::WorkspaceAccess::none) text += ", workspace hidden";
  for (const auto& [name, paths] :
       {std::pair{", read ", &plan.file.read}, std::pair{", write ", &plan.file.write}}) {
    if (!paths->empty()) text += name;
    for (const auto& path : *paths) text += (path == paths->front() ? "" : " ") + path;
  }
  return text;
}

}  // namespace stile::spawn
