// answer_question: the name server's answer to one question of an agent.
#include "proxy/session/name_answer.h"

#include "acl/decide_name.h"
#include "proxy/base/clock.h"
#include "proxy/net/sockaddr.h"

namespace stile::session {
namespace {

using acl::Reason;
using dns::NameAnswer;
using dns::Rcode;

const std::string no_agent = "-";

// True: within the rate. Like a request's, but what exceeds it is not delayed.
bool take_turn(acl::Account& account, SteadyTime now) noexcept {
  constexpr std::int64_t second = 1'000'000'000, step = second / questions_per_second;
  const std::int64_t time = now.time_since_epoch().count();
  std::int64_t due = account.next_question_ns.load(std::memory_order_relaxed);
  std::int64_t mine = 0;
  do {
    mine = std::max(due, time - second);
    if (mine > time) return false;
  } while (
      !account.next_question_ns.compare_exchange_weak(due, mine + step, std::memory_order_relaxed));
  return true;
}

struct Ruling {
  acl::Decision decision;
  Reason reason = Reason::none;  // none: the name is answered
  NameAnswer answer;
};

Ruling rule_on(Context& context, const Asker& asker, const dns::Question& question) {
  Ruling ruling;
  ruling.decision = acl::decide_name(asker.agent.get(), question.name, asker.source, unix_micros());
  if (!ruling.decision.passes()) {
    ruling.reason = ruling.decision.reason;
    ruling.answer.code = Rcode::no_name;
    return ruling;
  }
  if (question.type != dns::Question::type_a) return ruling;  // the name has no such record
  const auto stand_in =
      context.shared.names.stand_in(*asker.agent, ruling.decision.host.text(), context.loop.now());
  if (!stand_in) {  // each of its names is in use
    ruling.reason = Reason::rate_limited;
    ruling.answer.code = Rcode::server_failure;
    return ruling;
  }
  ruling.answer.address = stand_in->address;
  ruling.answer.ttl_seconds = static_cast<std::uint32_t>(dns::AgentNames::ttl.count());
  return ruling;
}

// False: the refusal cannot be logged.
Task<bool> write_line(Context& context, const Asker& asker, const dns::Question& question,
                      const Ruling& ruling) {
  if (!context.shared.names.is_news(*asker.agent, question.name, context.loop.now())) {
    // Its line may be one of this turn.
    const bool reported = co_await context.audit.without_line();
    co_return reported;
  }
  const std::string source = net::endpoint_text(asker.source, asker.port);
  const bool written =
      co_await context.log.deny_name({.agent = asker.agent->id,
                                      .account = asker.agent->account,
                                      .source = source,
                                      .name = question.name,
                                      .decision = ruling.decision,
                                      .reason = ruling.reason,
                                      .policy = context.policy.get()->generation()});
  co_return written;
}

}  // namespace

Task<> answer_question(Context& context, const Asker& asker, std::string_view text,
                       NameTransport transport, std::string& out) {
  const dns::Packet query{reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
  const auto tally = context.tally(asker.agent ? asker.agent->id : no_agent);
  const auto count = [&tally](Reason reason) {
    const bool passes = reason == Reason::none;
    tally->request(metrics::Method::dns, passes ? acl::Verdict::allow : acl::Verdict::deny, reason);
  };
  const auto& account = asker.agent ? asker.agent->account : context.shared.unknown;
  if (!take_turn(*account, context.loop.now())) {
    count(Reason::rate_limited);
    co_return;
  }
  const dns::Question question = dns::read_question(query);
  if (question.state == dns::Question::State::ignored) co_return;
  NameAnswer answer;
  answer.code = question.fault;
  if (question.state == dns::Question::State::valid) {
    if (!asker.agent) {
      count(Reason::unknown_agent);
      context.shared.refusals.count(no_agent, account, Reason::unknown_agent);
      answer.code = Rcode::refused;
    } else {
      const Ruling ruling = rule_on(context, asker, question);
      count(ruling.reason);
      answer = ruling.answer;
      if (ruling.reason != Reason::none) {
        const bool written = co_await write_line(context, asker, question, ruling);
        if (!written) answer.code = Rcode::server_failure;
      }
    }
  }
  if (transport == NameTransport::stream) {
    dns::write_framed_answer(out, query, question, answer);
  } else {
    dns::write_answer(out, query, question, answer);
  }
}

}  // namespace stile::session
