// BrowserSessions: links that work once, and the browsers that used one.
//
// A browser proves itself with two secrets. The cookie alone is not enough: browsers send cookies
// to every port of a host, so another server on 127.0.0.1 can see it. The second secret is stored
// for this origin alone and sent in a header, which other sites cannot set.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace stile::web {

class BrowserSessions {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::size_t max_tokens = 16;    // links not used yet; the oldest is dropped
  static constexpr std::size_t max_sessions = 64;  // the oldest is dropped
  static constexpr std::chrono::minutes token_life{5};
  static constexpr std::chrono::hours session_life{12};

  struct Keys {
    std::string cookie, csrf;
  };

  [[nodiscard]] std::string new_token(Time now);
  // nullopt: unknown, used or expired. A token works once.
  [[nodiscard]] std::optional<Keys> log_in(std::string_view token, Time now);
  [[nodiscard]] bool has(std::string_view cookie, Time now);
  [[nodiscard]] bool proves(std::string_view cookie, std::string_view csrf, Time now);
  void log_out(std::string_view cookie);

 private:
  // Secrets are kept and compared as hashes: how long a comparison takes says nothing about them.
  struct Token {
    std::string hash;
    Time end;
  };
  struct Session {
    std::string cookie, csrf;
    Time end;
  };
  void forget_expired(Time now);
  [[nodiscard]] const Session* find(std::string_view cookie, Time now);

  std::deque<Token> tokens_;  // the oldest first
  std::deque<Session> sessions_;
};

}  // namespace stile::web
