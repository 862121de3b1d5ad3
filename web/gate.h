// Gate: whether a request may be served at all. Everything that it may depend on is a value here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "web/origin.h"
#include "web/route.h"
#include "web/sessions.h"

namespace stile::web {

struct WebCredentials {
  std::vector<std::string> hosts;     // all Host headers
  std::optional<std::string> origin;  // the Origin header
  std::string fetch_site;             // Sec-Fetch-Site; "": an older browser, or no browser
  std::string content_type;
  std::string cookie, csrf;  // "": none
};

enum class WebRefusal : std::uint8_t {
  none,
  wrong_host,      // DNS rebinding
  foreign_origin,  // a page of another site sent it
  not_json,        // a form could send it
  no_session,
  no_csrf,
};

// Whether only a person who is logged in may use it.
[[nodiscard]] bool needs_session(WebEndpoint endpoint) noexcept;

[[nodiscard]] WebRefusal judge(const std::vector<Origin>& own, BrowserSessions& sessions,
                               WebMethod method, WebEndpoint endpoint, const WebCredentials& given,
                               BrowserSessions::Time now);

struct RefusalText {
  unsigned status;
  std::string_view code, message;
};
[[nodiscard]] RefusalText text(WebRefusal refusal) noexcept;

}  // namespace stile::web
