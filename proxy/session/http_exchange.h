// HttpExchange: one HTTP request and its answer, forwarded: plain, or inside an opened tunnel.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/event.h"
#include "proxy/base/task.h"
#include "proxy/http/chunked.h"
#include "proxy/http/git_push.h"
#include "proxy/http/gunzip.h"
#include "proxy/http/head.h"
#include "proxy/http/scrub.h"
#include "proxy/session/answer_tokens.h"
#include "proxy/session/client.h"
#include "proxy/session/connector.h"
#include "proxy/session/request.h"
#include "proxy/session/request_scan.h"

namespace stile::session {

// Both bodies stream at the same time: a child coroutine sends the request's, the exchange itself
// the answer's. Neither holds more than one buffer, except that a body which is scanned, or a
// message of a WebSocket, is held up to 64 KiB before anything of it goes to the origin.
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
  static constexpr std::uint64_t no_limit = ~std::uint64_t{0};

  [[nodiscard]] Reason read_target();
  [[nodiscard]] std::optional<http::AbsoluteTarget> parse_target() const;
  void gather_facts(const http::AbsoluteTarget& target);
  [[nodiscard]] Reason write_head(const http::AbsoluteTarget& target);
  [[nodiscard]] Reason add_secrets(std::vector<std::string>& strip,
                                   std::vector<http::Field>& added);
  [[nodiscard]] Reason keep_head_up_to_date();
  void drop_head();
  [[nodiscard]] std::string_view default_port() const noexcept;
  [[nodiscard]] bool agrees(std::string_view authority, std::string_view written) const;
  void keep_head();
  Task<Reason> read_push();
  [[nodiscard]] Reason judge_push();
  Task<> refuse_push();
  Task<> discard_body();
  Task<Reason> hold_body();
  http::ChunkedDecoder::Step::Kind take_chunks(std::string& to);
  // What is there of the body; `joined` keeps it if it came in chunks.
  [[nodiscard]] HeldBody held_body(std::string& joined) const;
  [[nodiscard]] Reason judge_query();
  Task<Reason> scan_held();
  Task<Reason> forward();
  Task<Reason> transfer();
  Task<Reason> send_head();
  Detached upload();
  Task<Reason> send_body();
  Task<Reason> send_piece(std::string_view data, bool is_end);
  Task<bool> next_of_body(std::string_view& data, std::uint64_t most = no_limit);
  [[nodiscard]] Reason why_it_ends() const noexcept;
  Task<Reason> pay(std::size_t bytes);
  Task<Reason> send_paid(std::string_view bytes);
  Task<Reason> receive();
  Task<Reason> receive_head(http::ResponseHead& head);
  void write_answer_head(const http::ResponseHead& head, http::Framing framing);
  Task<Reason> receive_body(const http::ResponseHead& head);
  Task<Reason> send_scrubbed(std::string_view body, bool is_end, http::Framing framing);
  Task<Reason> relay_websocket(const http::ResponseHead& head);
  Task<Reason> read_origin(std::string_view& got);
  void stop_upload() noexcept;
  void wipe_secrets();
  void be_patient(bool on) noexcept;
  [[nodiscard]] bool is_to_wait() noexcept;
  Task<bool> read_in_turn();
  Task<bool> finish(Reason reason);

  Client& client_;
  Connector& connector_;
  Request& request_;
  http::RequestHead& head_;
  bool client_is_1_1_;
  bool keep_alive_;  // of the client's connection
  bool origin_reusable_ = false;
  int status_ = 0;                        // of the answer that has begun
  std::string kept_head_;                 // the client's head, once its buffer grows with the body
  std::optional<http::PushReader> push_;  // of a git push
  std::string push_fault_;
  std::span<const std::string> strip_;  // fields that do not go on, in lower case; of written_by_
  std::vector<std::string> own_strip_;  // the same, if this request has a list of its own
  std::string to_origin_;               // the rewritten head
  std::shared_ptr<const acl::AgentPolicy> written_by_;  // kept, so that its address is not reused
  std::string from_origin_;
  std::size_t head_end_ = 0;  // in from_origin_
  std::size_t burst_ = 0;     // bytes read since other connections last went first
  std::string to_client_;
  std::vector<std::string> secret_values_;  // of the headers that Stile sets
  http::ChunkedDecoder body_decoder_;       // of the request's body
  std::string held_chunks_;                 // what it gave while the body was held
  std::optional<std::uint64_t> max_body_;   // of the request
  std::uint64_t body_bytes_ = 0;            // of the request, so far
  std::optional<http::Scrubber> scrubber_;  // of the answer
  std::optional<http::Gunzip> gunzip_;      // of an answer that is scrubbed
  RequestScan scan_;
  AnswerTokens tokens_;
  bool answer_is_whole_ = false;
  bool wants_websocket_ = false, is_relaying_ = false;
  bool upload_runs_ = false, upload_stopped_ = false, upload_failed_ = false;
  Reason upload_result_ = Reason::none;
  Event upload_done_;
};

}  // namespace stile::session
