// Session: serves one client connection, request by request, until it ends or becomes a tunnel.
//
// It reads heads and passes each request to a front: serve_connect or HttpExchange. A connection
// that was captured has a front of its own, serve_captured. A front uses Connector to reach the
// origin, and writes its lines through RequestLog.
#pragma once

#include <chrono>
#include <memory>

#include "proxy/base/task.h"
#include "proxy/http/head.h"
#include "proxy/session/client.h"
#include "proxy/session/connector.h"
#include "proxy/session/context.h"
#include "proxy/session/live.h"
#include "proxy/session/request.h"

namespace stile::session {

class Session final : public Pooled, public Live {
 public:
  // Serves the connection on the context's loop; the session owns itself from here on.
  static void start(Context& context, SocketPtr client, Peer peer);

  void judge_again(const acl::Snapshot& snapshot, bool all) override;
  void drain() override;
  void end() override { client_.cancel(acl::Reason::draining); }
  [[nodiscard]] bool describe(ConnectionInfo& info) const override;

 private:
  using Reason = acl::Reason;

  Session(Context& context, SocketPtr client, Peer peer);
  static Detached own(std::unique_ptr<Session> self);

  Task<> run();
  Task<bool> serve_capture();                 // true: requests follow on the connection
  Task<bool> serve(http::RequestHead& head);  // true: the connection can serve another request
  Task<> refuse_head(Reason reason);
  Task<Reason> read_head(http::RequestHead& head);
  [[nodiscard]] std::chrono::nanoseconds throttle_time() const;
  Task<> throttle(std::chrono::nanoseconds pause);

  Context& context_;
  Client client_;
  Connector connector_;
  http::HeadScanner scanner_;
  std::string_view head_fault_;  // what is malformed in a head; a constant text
  Request* current_ = nullptr;   // the request being served, for judge_again and describe
  std::string last_authority_;   // of plain HTTP: what an idle connection was used for
};

}  // namespace stile::session
