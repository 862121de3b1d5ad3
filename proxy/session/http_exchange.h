// HttpExchange: one plain-HTTP request and its answer, forwarded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/base/event.h"
#include "proxy/base/task.h"
#include "proxy/http/head.h"
#include "proxy/session/client.h"
#include "proxy/session/connector.h"
#include "proxy/session/request.h"

namespace stile::session {

// Both bodies stream at the same time: a child coroutine sends the request's, the exchange itself
// the answer's. Neither holds more than one buffer.
class HttpExchange {
 public:
  HttpExchange(Client& client, Connector& connector, Request& request, http::RequestHead& head);
  ~HttpExchange();
  // True: the connection can serve another request.
  Task<bool> run();

 private:
  using Reason = acl::Reason;
  // The most that one exchange moves before the other connections go first.
  static constexpr std::size_t max_burst = 64 * 1024;

  [[nodiscard]] Reason read_target();
  [[nodiscard]] Reason write_head(const http::AbsoluteTarget& target);
  [[nodiscard]] Reason keep_head_up_to_date();
  void drop_head();
  [[nodiscard]] bool host_agrees(std::string_view authority) const;
  Task<Reason> forward();
  Task<Reason> transfer();
  Task<Reason> send_head();
  Detached upload();
  Task<Reason> send_body();
  Task<bool> body_is_here();
  [[nodiscard]] Reason why_it_ends() const noexcept;
  Task<Reason> pay(std::size_t bytes);
  Task<Reason> send_paid(std::string_view bytes);
  Task<Reason> receive();
  Task<Reason> receive_head(http::ResponseHead& head);
  Task<Reason> receive_body(const http::ResponseHead& head);
  Task<Reason> read_origin();
  void stop_upload() noexcept;
  void be_patient(bool on) noexcept;
  [[nodiscard]] bool is_to_wait() noexcept;
  Task<bool> finish(Reason reason);

  Client& client_;
  Connector& connector_;
  Request& request_;
  http::RequestHead& head_;
  bool client_is_1_1_;
  bool keep_alive_;  // of the client's connection
  bool origin_reusable_ = false;
  int status_ = 0;                                      // of the answer that has begun
  std::string to_origin_;                               // the rewritten head
  std::shared_ptr<const acl::AgentPolicy> written_by_;  // kept, so that its address is not reused
  std::string from_origin_;
  std::size_t head_end_ = 0;  // in from_origin_
  std::size_t burst_ = 0;     // bytes read since other connections last went first
  std::string to_client_;
  bool upload_runs_ = false, upload_stopped_ = false;
  Reason upload_result_ = Reason::none;
  Event upload_done_;
};

}  // namespace stile::session
