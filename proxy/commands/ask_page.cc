// AskService, the agent's side: http://stile.internal/v1/asks. An agent sees its own asks only, and
// can answer none.
#include <algorithm>
#include <charconv>
#include <string>

#include "base/json.h"
#include "base/quoted.h"
#include "config/json_loader.h"
#include "proxy/base/clock.h"
#include "proxy/commands/ask_service.h"
#include "proxy/commands/ask_text.h"

namespace stile::commands {
namespace {

using control::Ask;
using session::AskPage;

constexpr std::string_view asks_path = "/v1/asks";
constexpr std::chrono::seconds max_page_wait{60};

AskPage refused_page(int status, std::string_view code, std::string_view message) {
  AskPage page;
  page.status = status;
  JsonObject{page.body}.add("error", code).add("message", message);
  page.body += '\n';
  return page;
}

// "wait=30": seconds, at most a minute.
std::chrono::seconds wait_in(std::string_view query) {
  constexpr std::string_view key = "wait=";
  if (!query.starts_with(key)) return {};
  query.remove_prefix(key.size());
  unsigned seconds = 0;
  const auto [end, failed] = std::from_chars(query.data(), query.data() + query.size(), seconds);
  if (failed != std::errc{} || end != query.data() + query.size()) return {};
  return std::min(std::chrono::seconds{seconds}, max_page_wait);
}

// The body of a POST. What it says is the agent's, and only its form is checked here.
struct Wish {
  std::string host, reason;
  std::int64_t port = 443;
  acl::Scheme scheme = acl::Scheme::tunnel;
};

const char* read_member(const config::Member& member, Wish& wish, bool& has_port) {
  const auto* text = member.value.as<std::string>();
  if (member.key == "port") {
    const auto* number = member.value.as<std::int64_t>();
    if (number == nullptr) return "port: expected a number";
    wish.port = *number;
    has_port = true;
    return nullptr;
  }
  if (text == nullptr) return "host, reason and scheme are strings, port is a number";
  if (member.key == "host") {
    wish.host = *text;
  } else if (member.key == "reason") {
    // Shown to people on terminals and pages: nothing in it can be more than text.
    wish.reason = printable(text->substr(0, control::AskBook::max_reason_bytes));
  } else if (member.key == "scheme" && (*text == "https" || *text == "http")) {
    wish.scheme = *text == "http" ? acl::Scheme::http : acl::Scheme::tunnel;
  } else {
    return member.key == "scheme" ? "scheme: expected \"https\" or \"http\""
                                  : "there are only host, port, scheme and reason";
  }
  return nullptr;
}

// Null: understood. Else what is wrong, a constant text.
const char* read_wish(std::string_view body, Wish& wish) {
  const auto document = config::parse_json(body, "");
  const auto* table = document ? document->as<config::Node::Table>() : nullptr;
  if (table == nullptr) return "the body is not a JSON object";
  bool has_port = false;
  for (const auto& member : *table) {
    if (const char* wrong = read_member(member, wish, has_port)) return wrong;
  }
  if (wish.host.empty()) return "host is missing";
  if (!has_port && wish.scheme == acl::Scheme::http) wish.port = 80;
  return nullptr;
}

}  // namespace

AskPage AskService::page(const session::AskPageRequest& request) {
  const bool is_list = request.path == asks_path;
  const bool is_one = request.path.starts_with(asks_path) &&
                      request.path.size() > asks_path.size() + 1 &&
                      request.path[asks_path.size()] == '/';
  if (!is_list && !is_one) {
    return refused_page(404, "not-found", "there is /v1/asks and /v1/asks/ID");
  }
  if (is_list && request.method == "POST") return page_of_new(request);
  if (request.method != "GET") {
    return refused_page(405, "method-not-allowed", "GET /v1/asks[/ID], or POST /v1/asks");
  }
  AskPage page;
  page.status = 200;
  const std::lock_guard lock{mutex_};
  if (is_list) {
    page.body = own_asks_text(book_.own(request.agent.id, request.agent.account));
    return page;
  }
  const Ask* ask = book_.find(request.agent.id, request.agent.account,
                              request.path.substr(asks_path.size() + 1));
  // The same for an ask of another agent and for one that never was.
  if (ask == nullptr) return refused_page(404, "not-found", "you have no ask of that id");
  page.body = own_ask_text(*ask);
  page.wait = wait_in(request.query);
  if (ask->state == Ask::State::open && page.wait.count() > 0) page.id = ask->id;
  return page;
}

// Asks ahead: judged as a request to that host would be.
AskPage AskService::page_of_new(const session::AskPageRequest& request) {
  Wish wish;
  if (const char* wrong = read_wish(request.body, wish))
    return refused_page(400, "bad-request", wrong);
  acl::Query query;
  const std::string port = std::to_string(wish.port);
  query.agent = &request.agent;
  query.scheme = wish.scheme;
  query.authority = {wish.host, port, true};
  query.now = unix_micros();
  const acl::Decision decision = acl::decide(query);
  Ask question;
  question.agent = request.agent.id;
  question.reason = decision.reason;
  question.scheme = wish.scheme == acl::Scheme::http ? "http" : "connect";
  question.host = std::string{decision.host.text()};
  question.port = decision.port;
  question.agent_reason = wish.reason;
  question.looks_like = imitated_by(request.agent, question.host);
  AskPage page;
  if (decision.passes()) {
    page.status = 200;
    JsonObject{page.body}.add("state", "allowed").add("host", question.host);
    page.body += '\n';
    return page;
  }
  if (!decision.may_ask) {
    return refused_page(403, acl::text(decision.reason), acl::sentence(decision.reason));
  }
  const std::lock_guard lock{mutex_};
  const auto entry =
      enter(question, request.agent, false, {std::string{request.source}, request.conn});
  if (entry.ask == nullptr) {
    return refused_page(429, "too-many-asks", "16 of your asks are open; wait for answers");
  }
  page.status = entry.ask->state == Ask::State::open ? 202 : 200;
  page.body = own_ask_text(*entry.ask);
  return page;
}

}  // namespace stile::commands
