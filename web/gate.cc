// Gate: host, origin, type, session, in this order.
#include "web/gate.h"

#include "base/ascii.h"

namespace stile::web {
namespace {

bool is_json(std::string_view type) {
  const auto end = type.find(';');
  return equal_ignoring_case(type.substr(0, end), "application/json");
}

bool is_a2a_json(std::string_view type) {
  return is_json(type) ||
         equal_ignoring_case(type.substr(0, type.find(';')), "application/a2a+json");
}

// A program has no cookie but the token of a worker, which no browser adds by itself. Still no page
// of another site may send such a request.
WebRefusal judge_program(const std::vector<Origin>& own, WebMethod method,
                         const WebCredentials& given) {
  const bool is_page = given.origin.has_value();
  if (is_page && !is_own_origin(own, given.hosts.front(), *given.origin)) {
    return WebRefusal::foreign_origin;
  }
  if (!given.fetch_site.empty() && given.fetch_site != "same-origin") {
    return WebRefusal::foreign_origin;
  }
  // A request without a body, such as a cancellation, has no type.
  const bool is_json_body =
      method != WebMethod::post || given.content_type.empty() || is_a2a_json(given.content_type);
  return is_json_body ? WebRefusal::none : WebRefusal::not_json;
}

// A browser sends Origin with every POST. A GET of the page itself may lack it.
bool is_foreign(const std::vector<Origin>& own, WebMethod method, const WebCredentials& given) {
  if (given.origin && !is_own_origin(own, given.hosts.front(), *given.origin)) return true;
  if (!given.origin && method != WebMethod::get) return true;
  return !given.fetch_site.empty() && given.fetch_site != "same-origin";
}

}  // namespace

bool needs_session(WebEndpoint endpoint) noexcept {
  using enum WebEndpoint;
  return endpoint != none && endpoint != other_method && endpoint != asset && endpoint != login &&
         endpoint != a2a;
}

WebRefusal judge(const std::vector<Origin>& own, BrowserSessions& sessions, WebMethod method,
                 WebEndpoint endpoint, const WebCredentials& given, BrowserSessions::Time now) {
  if (given.hosts.size() != 1 || !is_own_host(own, given.hosts.front()))
    return WebRefusal::wrong_host;
  // Assets hold no secret, and a link in a terminal or a mail opens them from another site.
  const bool is_api = endpoint != WebEndpoint::asset && endpoint != WebEndpoint::none &&
                      endpoint != WebEndpoint::other_method;
  if (!is_api) return WebRefusal::none;
  if (endpoint == WebEndpoint::a2a) return judge_program(own, method, given);
  if (is_foreign(own, method, given)) return WebRefusal::foreign_origin;
  if (method == WebMethod::post && !is_json(given.content_type)) return WebRefusal::not_json;
  if (!needs_session(endpoint)) return WebRefusal::none;
  if (!sessions.has(given.cookie, now)) return WebRefusal::no_session;
  if (!sessions.proves(given.cookie, given.csrf, now)) return WebRefusal::no_csrf;
  return WebRefusal::none;
}

RefusalText text(WebRefusal refusal) noexcept {
  switch (refusal) {
    case WebRefusal::none:
      break;
    case WebRefusal::wrong_host:
      return {421, "wrong-host", "this server is not known under that name; see --origin"};
    case WebRefusal::foreign_origin:
      return {403, "foreign-origin", "a page of another origin sent this request"};
    case WebRefusal::not_json:
      return {415, "not-json", "the content type must be application/json"};
    case WebRefusal::no_session:
      return {401, "no-session", "log in with the link that `stile web` prints"};
    case WebRefusal::no_csrf:
      return {403, "no-csrf", "the header X-Stile-CSRF is missing or wrong"};
  }
  return {200, "ok", ""};
}

}  // namespace stile::web
