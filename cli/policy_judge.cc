// Judge: decides a request by a config.
#include <memory>

#include "acl/decide.h"
#include "base/unix_time.h"
#include "cli/judge.h"

namespace stile::cli {
namespace {

Judgement judge_by_policies(const acl::Snapshot& policies, const SeenTarget& target) {
  const std::shared_ptr<const acl::AgentPolicy>* agent = nullptr;
  if (!target.agent.empty()) {
    agent = policies.by_id(target.agent);
  } else if (const auto source = acl::Address::parse(target.source)) {
    agent = policies.by_source(source->unmapped());
  }
  const auto port = std::to_string(target.port);
  acl::Query query;
  query.agent = agent == nullptr ? nullptr : agent->get();
  query.scheme = target.scheme;
  query.authority = {target.host, port, true};
  query.now = unix_micros();
  const auto decision = acl::decide(query);
  Judgement judgement{decision.verdict, {}, decision.rule ? decision.rule.describe() : ""};
  if (decision.reason != acl::Reason::none) judgement.reason = text(decision.reason);
  return judgement;
}

}  // namespace

std::string Judgement::text() const {
  std::string words{acl::text(verdict)};
  if (!reason.empty()) words += ' ' + reason;
  return words;
}

Judge judge_of_config(std::string name, std::shared_ptr<const acl::Snapshot> policies) {
  return {std::move(name),
          [policies = std::move(policies)](const SeenTarget& target, const SeenOutcome&)
              -> CommandOutcome<Judgement> { return judge_by_policies(*policies, target); }};
}

}  // namespace stile::cli
