// The table of actions. A new action is one row here, and one function declared in commands.h and
// defined in commands.cc or one of the *_commands.cc. If it has a new field,
// control/request.cc reads it.
#include "proxy/commands/actions.h"

#include "proxy/commands/commands.h"

namespace stile::commands {
namespace {

using control::Action, control::ErrorCode, control::Failure, control::Outcome,
    control::ControlRequest;

template <auto handler>
void call(control::Service& service, const ControlRequest& request,
          const control::ConnectionPtr& client) {
  (static_cast<Commands&>(service).*handler)(request, client);
}

Outcome<void> check_explain(const ControlRequest& request) {
  if (request.agent.empty() != request.source.has_value()) {
    return Failure{ErrorCode::bad_request, "explain needs either \"agent\" or \"source\""};
  }
  if (request.url.empty() == request.host.empty() || request.host.empty() != request.port.empty()) {
    return Failure{ErrorCode::bad_request,
                   "explain needs either \"url\", or \"host\" and \"port\""};
  }
  return boost::system::in_place_value;
}

Outcome<void> check_answer(const ControlRequest& request) {
  if (request.verdict != "allow" && request.verdict != "deny") {
    return Failure{ErrorCode::bad_request, "verdict: expected \"allow\" or \"deny\""};
  }
  return boost::system::in_place_value;
}

}  // namespace

const control::Actions& actions() {
  constexpr auto reads = Action::Access::reads;
  constexpr auto changes = Action::Access::changes;
  constexpr auto anywhere = Action::Place::anywhere;
  constexpr auto daemon = Action::Place::daemon;
  // Each row: name, access, place, required fields, optional fields, exactly one of.
  static const control::Actions rows{
      {"ping", reads, anywhere, {}, {}, {}, call<&Commands::ping>},
      {"status", reads, anywhere, {}, {}, {}, call<&Commands::status>},
      {"agents", reads, anywhere, {}, {}, {}, call<&Commands::agents>},
      {"agent", reads, anywhere, {"agent"}, {}, {}, call<&Commands::agent>},
      {"put-agent", changes, daemon, {"card"}, {}, {}, call<&Commands::put_agent>},
      {"remove-agent", changes, daemon, {"agent"}, {}, {}, call<&Commands::remove_agent>},
      {"allow",
       changes,
       anywhere,
       {"agent", "hosts"},
       {"ttl_seconds", "max_requests", "bytes_up", "reason"},
       {},
       call<&Commands::allow>},
      {"asks", reads, anywhere, {}, {"agent", "follow"}, {}, call<&Commands::list_asks>},
      // Opens a question and changes no policy: captains have the read-only socket.
      {"ask", reads, anywhere, {"agent", "url"}, {"method", "reason"}, {}, call<&Commands::ask>},
      {"answer",
       changes,
       anywhere,
       {"ask", "verdict"},
       {"ttl_seconds", "max_requests", "bytes_up", "hosts", "reason"},
       {},
       call<&Commands::answer>,
       check_answer},
      {"revoke", changes, anywhere, {"agent"}, {}, {"hosts", "grant"}, call<&Commands::revoke>},
      {"mode", changes, anywhere, {"mode"}, {"agent"}, {}, call<&Commands::set_mode>},
      {"budget-reset", changes, anywhere, {"agent"}, {}, {}, call<&Commands::reset_budget>},
      {"note-check",
       changes,
       daemon,
       {"agent", "holds"},
       {"reason"},
       {},
       call<&Commands::note_check>},
      {"reload", changes, daemon, {}, {}, {}, call<&Commands::reload>},
      {"rotate", changes, daemon, {}, {}, {}, call<&Commands::rotate>},
      {"drain", changes, daemon, {}, {}, {}, call<&Commands::drain>},
      {"explain",
       reads,
       anywhere,
       {},
       {"agent", "source", "url", "host", "port", "method", "resolve"},
       {},
       call<&Commands::explain>,
       check_explain},
      {"secrets", reads, anywhere, {}, {}, {}, call<&Commands::secrets>},
      {"trust", reads, daemon, {}, {"agent"}, {}, call<&Commands::trust>},
      {"tail", reads, anywhere, {}, {"agent", "verdict"}, {}, call<&Commands::tail>},
      {"log", reads, daemon, {}, {"agent", "rotated"}, {}, call<&Commands::log>},
      {"config", reads, daemon, {}, {"on_disk"}, {}, call<&Commands::config>},
      {"connections", reads, anywhere, {}, {"agent"}, {}, call<&Commands::connections>},
      {"fleet", changes, daemon, {}, {"connected", "memory", "try"}, {}, call<&Commands::fleet>},
      {"adopt-listener",
       changes,
       daemon,
       {},
       {},
       {"agent", "card"},
       call<&Commands::adopt_listener>},
      {"adopt-capture", changes, daemon, {}, {"agent"}, {}, call<&Commands::adopt_capture>},
      {"take-over", changes, daemon, {}, {}, {}, call<&Commands::take_over>},
  };
  return rows;
}

}  // namespace stile::commands
