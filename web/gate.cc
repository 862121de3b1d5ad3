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
Refusal judge_program(const std::vector<Origin>& own, Method method, const Credentials& given) {
  const bool is_page = given.origin.has_value();
  if (is_page && !is_own_origin(own, given.hosts.front(), *given.origin)) {
    return Refusal::foreign_origin;
  }
  if (!given.fetch_site.empty() && given.fetch_site != "same-origin") {
    return Refusal::foreign_origin;
  }
  // A request without a body, such as a cancellation, has no type.
  const bool is_json_body =
      method != Method::post || given.content_type.empty() || is_a2a_json(given.content_type);
  return is_json_body ? Refusal::none : Refusal::not_json;
}

// A browser sends Origin with every POST. A GET of the page itself may lack it.
bool is_foreign(const std::vector<Origin>& own, Method method, const Credentials& given) {
  if (given.origin && !is_own_origin(own, given.hosts.front(), *given.origin)) return true;
  if (!given.origin && method != Method::get) return true;
  return !given.fetch_site.empty() && given.fetch_site != "same-origin";
}

}  // namespace

Refusal judge(const std::vector<Origin>& own, Sessions& sessions, Method method, Endpoint endpoint,
              const Credentials& given, Sessions::Time now) {
  if (given.hosts.size() != 1 || !is_own_host(own, given.hosts.front())) return Refusal::wrong_host;
  // Assets hold no secret, and a link in a terminal or a mail opens them from another site.
  const bool is_api = endpoint != Endpoint::asset && endpoint != Endpoint::none &&
                      endpoint != Endpoint::other_method;
  if (!is_api) return Refusal::none;
  if (endpoint == Endpoint::a2a) return judge_program(own, method, given);
  if (is_foreign(own, method, given)) return Refusal::foreign_origin;
  if (method == Method::post && !is_json(given.content_type)) return Refusal::not_json;
  if (endpoint == Endpoint::login) return Refusal::none;
  if (!sessions.has(given.cookie, now)) return Refusal::no_session;
  if (!sessions.proves(given.cookie, given.csrf, now)) return Refusal::no_csrf;
  return Refusal::none;
}

RefusalText text(Refusal refusal) noexcept {
  switch (refusal) {
    case Refusal::none:
      break;
    case Refusal::wrong_host:
      return {421, "wrong-host", "this server is not known under that name; see --origin"};
    case Refusal::foreign_origin:
      return {403, "foreign-origin", "a page of another origin sent this request"};
    case Refusal::not_json:
      return {415, "not-json", "the content type must be application/json"};
    case Refusal::no_session:
      return {401, "no-session", "log in with the link that `stile web` prints"};
    case Refusal::no_csrf:
      return {403, "no-csrf", "the header X-Stile-CSRF is missing or wrong"};
  }
  return {200, "ok", ""};
}

}  // namespace stile::web
