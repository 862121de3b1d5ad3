// RequestLog: writes every audit line of a request, and counts it.
//
// The line comes first. No byte goes to an origin before `co_await open()` was true, and no refusal
// to a client before `co_await deny()`. Both return once write(2) has returned, or at the end of
// the turn if the refusal exceeds the rate of lines and was only counted. The line at the end of a
// request repeats that of its opening, unless it was cut.
#pragma once

#include <string_view>
#include <utility>

#include "proxy/session/audit_queue.h"
#include "proxy/session/live.h"
#include "proxy/session/refusal_log.h"
#include "proxy/session/request.h"

namespace stile::session {

class RequestLog {
 public:
  RequestLog(AuditQueue& queue, RefusalLog& refusals, const Loop& loop) noexcept
      : queue_{queue}, refusals_{refusals}, loop_{loop} {}

  // True: the line is in the log, and the request is counted as allowed.
  class Opened : public AuditQueue::Written {
   public:
    Opened(Written written, const Peer& peer, Request& request) noexcept
        : Written{std::move(written)},
          peer_{peer},
          request_{request},
          verdict_{request.decision.verdict},
          reason_{request.decision.reason} {}
    [[nodiscard]] bool await_resume() const;

   private:
    const Peer& peer_;
    Request& request_;
    acl::Verdict verdict_;
    acl::Reason reason_;
  };
  [[nodiscard]] Opened open(const Peer& peer, Request& request);

  // Refused with that reason. False: the line is not in the log; answer audit-unavailable instead.
  // `status` is what the client sees: 200 if it already has its answer to a CONNECT.
  [[nodiscard]] AuditQueue::Written deny(const Peer& peer, const Request& request,
                                         acl::Reason reason, int status);

  // A name that the name server does not resolve, with the reason of the decision.
  struct RefusedName {
    const std::string& agent;
    const std::shared_ptr<acl::Account>& account;
    std::string_view source;
    std::string_view name;  // as asked, if the decision has none
    const acl::Decision& decision;
    acl::Reason reason;
    std::uint64_t policy;
  };
  [[nodiscard]] AuditQueue::Written deny_name(const RefusedName& refused);

  // The end of what was open; `cut` is the reason if Stile ended it. Await it only if an answer
  // reports the end.
  AuditQueue::Written close(const Peer& peer, Request& request, acl::Reason cut, int status);

  // The same for tunnels.
  struct TunnelEnd {
    std::string_view authority;  // canonical
    std::string_view rule;       // that it was open by
    const acl::Address& origin;
    acl::Reason opened_despite, cut;
    std::uint64_t bytes_up, bytes_down, policy;
    SteadyTime begun;
  };
  void tunnel_opens(const Peer& peer) noexcept { ++peer.tally->tunnels_open; }
  void tunnel_ends(const Peer& peer, const TunnelEnd& end) noexcept;
  // It goes on in another process, which writes its last line.
  void tunnel_leaves(const Peer& peer) noexcept { --peer.tally->tunnels_open; }

 private:
  void close_tunnel(const Peer& peer, const TunnelEnd& end);
  [[nodiscard]] std::uint64_t ms_since(SteadyTime begun) const noexcept;

  AuditQueue& queue_;
  RefusalLog& refusals_;
  const Loop& loop_;
};

// "connect", "http", or "https" inside a tunnel that is opened.
[[nodiscard]] std::string_view scheme_text(const Request& request) noexcept;
// The host for log and answer: canonical if it was valid, else as the agent wrote it, without parts
// that may be secret (user info, a path, a query).
[[nodiscard]] std::string_view shown_host(const Request& request) noexcept;
// Its port, also of a request that was refused before the decision; 0: it has none that is valid.
[[nodiscard]] std::uint16_t shown_port(const Request& request) noexcept;

}  // namespace stile::session
