// WebClient: the connection that an answer goes to.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stile::web {

struct HttpAnswer {
  unsigned status = 200;
  std::string_view type;
  std::string body;
  std::vector<std::pair<std::string_view, std::string>> headers{};  // beside the usual ones
};

inline constexpr std::string_view json_type = "application/json";

// {"ok":false,"error":{"code":…,"message":…}}
[[nodiscard]] HttpAnswer error_answer(unsigned status, std::string_view code,
                                      std::string_view message);

class WebClient {
 public:
  using Written = std::function<void()>;  // not called if the client has gone

  WebClient() = default;
  virtual ~WebClient() = default;
  WebClient(const WebClient&) = delete;
  WebClient& operator=(const WebClient&) = delete;

  virtual void answer(HttpAnswer answer) = 0;
  // Server-sent events: the head, then frames, each after the one before was written, then the end.
  virtual void begin_stream(Written written) = 0;
  virtual void write(std::string frames, Written written) = 0;
  virtual void end() = 0;
  // Notices from now on whether the client goes away, until it is answered.
  virtual void watch() = 0;
  [[nodiscard]] virtual bool has_gone() const = 0;
};

}  // namespace stile::web
