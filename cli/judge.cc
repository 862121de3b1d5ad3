// Judge: decides a request by the running daemon, or by the log itself.
#include "cli/judge.h"

#include "cli/control_command.h"

namespace stile::cli {
namespace {

using acl::Verdict;

// Whether steps 1 to 6 can give this reason.
bool is_of_policy(std::string_view reason) {
  for (auto code = acl::Reason::unknown_agent; code <= acl::Reason::host_not_allowed;
       code = static_cast<acl::Reason>(static_cast<int>(code) + 1)) {
    if (text(code) == reason) return true;
  }
  return false;
}

Json explain_request(const SeenTarget& target) {
  Json request{{"action", "explain"}};
  if (target.agent.empty()) {
    request.set("source", target.source);
  } else {
    request.set("agent", target.agent);
  }
  if (target.scheme == acl::Scheme::http) {
    request.set("url", "http://" + target.host + ':' + std::to_string(target.port) + '/');
  } else {
    request.set("host", target.host);
    request.set("port", target.port);
  }
  return request;
}

CommandOutcome<Judgement> judge_by_daemon(control::ControlClient& client,
                                          const SeenTarget& target) {
  const auto answer = send_request(client, explain_request(target));
  if (!answer && (answer.error().code == "unknown-agent" || answer.error().code == "bad-request")) {
    return Judgement{Verdict::deny, answer.error().code, {}};
  }
  if (!answer) return answer.error();
  const auto verdict = text_of(answer->json, "verdict");
  const auto reason = text_of(answer->json, "reason");
  if (verdict == "allow" || !is_of_policy(reason)) {
    return Judgement{Verdict::allow, {}, text_of(answer->json, "rule")};
  }
  return Judgement{verdict == "would-deny" ? Verdict::would_deny : Verdict::deny, reason,
                   text_of(answer->json, "rule")};
}

// If a log has several verdicts for one target, the policy changed in between. The most permissive
// verdict counts, so that the list of new refusals contains everything that once worked.
Judgement judge_by_log(const SeenOutcome& outcome) {
  if (outcome.allowed > 0) return {Verdict::allow, {}, {}};
  for (const auto& [reason, count] : outcome.observed) {
    if (is_of_policy(reason)) return {Verdict::would_deny, reason, {}};
  }
  for (const auto& [reason, count] : outcome.refused) {
    if (is_of_policy(reason)) return {Verdict::deny, reason, {}};
  }
  return {Verdict::allow, {}, {}};
}

}  // namespace

Judge judge_of_daemon(std::shared_ptr<control::ControlClient> client) {
  auto name = "the running daemon (" + client->path() + ')';
  return {std::move(name),
          [client = std::move(client)](const SeenTarget& target, const SeenOutcome&) {
            return judge_by_daemon(*client, target);
          }};
}

Judge judge_of_log() {
  return {"the verdicts in the log",
          [](const SeenTarget&, const SeenOutcome& outcome) -> CommandOutcome<Judgement> {
            return judge_by_log(outcome);
          }};
}

}  // namespace stile::cli
