// Gate: whether an HTTP request may be served at all, and the sessions of clients. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/protocol.h"
#include "web/origin.h"

namespace stile::mcp {

struct McpCredentials {
  std::vector<std::string> hosts;     // all Host headers, in lower case
  std::optional<std::string> origin;  // the Origin header
  std::string authorization;
};

struct GateRefusal {
  unsigned status = 200;  // 200: none
  std::string_view message;
};

class Gate {
 public:
  // `token` has to be sent as `Authorization: Bearer`.
  Gate(std::vector<web::Origin> own, std::string_view token);
  [[nodiscard]] GateRefusal judge(const McpCredentials& given) const;
  [[nodiscard]] const web::Origin& first() const { return own_.front(); }

 private:
  std::vector<web::Origin> own_;
  std::string token_hash_;
};

// What a token has to look like; an empty text: it is one.
[[nodiscard]] std::string token_problem(std::string_view token);

// The clients that have sent an initialize.
class McpSessions {
 public:
  static constexpr std::size_t max_sessions = 64;  // then the one unused for longest ends

  [[nodiscard]] std::string open(Handshake handshake);
  // Null: there is none.
  [[nodiscard]] Handshake* find(std::string_view id);
  [[nodiscard]] bool close(std::string_view id);

 private:
  struct Session {
    std::string id;
    Handshake handshake;
  };
  std::vector<Session> sessions_;  // used last, last
};

}  // namespace stile::mcp
