// serve_own_page: reads a small body, asks the board, and waits for an answer if the agent wants
// to.
#include "proxy/session/own_page.h"

#include <functional>
#include <string>

#include "proxy/session/refuse.h"

namespace stile::session {
namespace {

using acl::Reason;

constexpr std::chrono::milliseconds page_time{10000};

std::string_view phrase(int status) noexcept {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 429:
      return "Too Many Requests";
    default:
      return "Bad Request";
  }
}

Task<bool> send_page(Client& client, const AskPage& page, bool is_head, bool keep_alive) {
  std::string answer = "HTTP/1.1 " + std::to_string(page.status) + ' ';
  answer.append(phrase(page.status)).append("\r\nContent-Type: application/json");
  answer.append("\r\nCache-Control: no-store\r\nContent-Length: ");
  answer.append(std::to_string(page.body.size())).append("\r\n");
  answer.append(keep_alive ? "\r\n" : "Connection: close\r\n\r\n");
  if (!is_head) answer += page.body;
  // No page has a line, so that a client that sends many requests at once waits its turn here.
  static_cast<void>(co_await client.context.audit.without_line());
  client.set_deadline(page_time, Reason::idle_timeout);
  const bool sent = co_await client.send(answer);
  client.clear_deadline();
  if (sent && !keep_alive) co_await client.linger();
  const bool goes_on = sent && keep_alive;
  co_return goes_on;
}

AskPage page_problem(int status, std::string_view message) {
  AskPage page;
  page.status = status;
  page.body = "{\"error\":\"" + std::string{message} + "\"}\n";
  return page;
}

// Reads the body behind the head, then drops both from the buffer. False: the client is gone.
Task<bool> take_body(Client& client, std::size_t bytes, std::string& body) {
  const std::size_t begin = client.head_bytes;
  client.set_deadline(client.context.limits.header_timeout, Reason::header_timeout);
  while (client.in.size() < begin + bytes) {
    const bool more = co_await client.read_more();
    if (!more) co_return false;
  }
  client.clear_deadline();
  body = client.in.substr(begin, bytes);
  client.in.erase(0, begin + bytes);
  client.head_bytes = 0;
  co_return true;
}

// Who asks, and whether the agent is served at all, is decided as for every request; what the rules
// say of the name is not.
bool is_refused(Reason reason) noexcept {
  return reason == Reason::unknown_agent || reason == Reason::agent_expired ||
         reason == Reason::offline || reason == Reason::revoked || reason == Reason::draining ||
         reason == Reason::bad_request;
}

}  // namespace

bool is_for_stile_itself(const Client& client, const Request& request) {
  if (client.context.shared.asks == nullptr || request.is_inside) return false;
  if (!client.peer.agent || !client.peer.agent->asks) return false;
  const acl::Authority authority = acl::split_authority(request.authority);
  const acl::HostParse host = acl::parse_host(authority.host);
  return host.kind == acl::HostParse::Kind::name && host.host.text() == acl::own_name &&
         authority.port == "80";
}

Task<bool> serve_own_page(Client& client, Connector& connector, Request& request,
                          const http::RequestHead& head) {
  const bool keep_alive = head.keep_alive, is_head = head.method == "HEAD";
  connector.decide(request);
  if (is_refused(request.decision.reason)) {
    co_await refuse(client, request, request.decision.reason);
    co_return false;
  }
  // Reading the body may move what the head points to.
  const std::string method{is_head ? "GET" : head.method};
  const auto target = !client.captured.empty() ? http::parse_captured_target(head.target)
                                               : http::parse_absolute_target(head.target);
  if (!target) {
    co_await refuse(client, request, Reason::bad_request);
    co_return false;
  }
  const std::string path{target->path};
  const auto mark = target->path_and_query.find('?');
  const std::string query{mark == std::string_view::npos ? std::string_view{}
                                                         : target->path_and_query.substr(mark + 1)};
  if (head.framing != http::Framing::none && head.framing != http::Framing::length) {
    const AskPage page = page_problem(411, "send the body with a Content-Length");
    co_return co_await send_page(client, page, is_head, false);
  }
  const std::uint64_t length = head.framing == http::Framing::length ? head.content_length : 0;
  if (length > AskBoard::max_page_body) {
    const AskPage page = page_problem(413, "a body has at most 4096 bytes");
    co_return co_await send_page(client, page, is_head, false);
  }
  if (request.facts) {  // what points into the head
    request.facts->fields = nullptr;
    request.facts->target = {};
  }
  std::string body;
  const bool is_whole = co_await take_body(client, static_cast<std::size_t>(length), body);
  if (!is_whole) co_return false;
  const std::string source = client.peer.source_text();
  AskBoard& board = *client.context.shared.asks;
  const auto look = [&] {
    return board.page({*request.judged_by, method, path, query, body, source, client.peer.conn});
  };
  AskPage page = look();
  if (!page.id.empty() && board.hold(*request.judged_by, page.id)) {
    const AskHold hold{board, request.judged_by->id, page.id};
    const std::string id = page.id;
    const std::function<bool()> is_done = [&] {
      connector.decide(request);
      if (is_refused(request.decision.reason)) return true;
      page = look();
      return page.id.empty();
    };
    client.watch_for_loss(Reason::idle_timeout);
    co_await connector.wait_for_answer(id, page.wait, is_done);
    client.watch_for_loss(Reason::none);
    if (client.is_cancelled() || is_refused(request.decision.reason)) co_return false;
  }
  co_return co_await send_page(client, page, is_head, keep_alive);
}

}  // namespace stile::session
