// Request and response heads, parsed strictly from raw bytes. Pure; everything odd is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "proxy/http/fields.h"

namespace stile::http {

struct Field {
  Field(std::string_view as_sent, std::string_view without_blanks) noexcept
      : name{as_sent}, value{without_blanks}, kind{field_kind(as_sent)} {}

  std::string_view name;
  std::string_view value;
  FieldKind kind;
};

inline constexpr std::size_t max_fields = 2048;
inline constexpr std::size_t max_connection_options = 64;  // in all Connection fields together

enum class ParseState : std::uint8_t { need_more, complete, bad };

enum class Framing : std::uint8_t {
  none,    // no body
  length,  // content_length bytes
  chunked,
  to_close,  // responses only
};

// The views point into the text that was parsed.
struct RequestHead {
  std::string_view method;
  std::string_view target;
  int minor_version = 1;  // HTTP/1.x
  std::vector<Field> fields;
  // Derived once, so that no other code searches the fields for them:
  std::string_view host;  // the Host field
  bool has_host = false;
  Framing framing = Framing::none;
  std::uint64_t content_length = 0;
  bool has_content_length = false;
  bool keep_alive = true;         // by version and Connection / Proxy-Connection
  bool expects_continue = false;  // HTTP/1.1 with a body only; elsewhere the field means nothing
  bool is_connect = false;
};

struct ResponseHead {
  int status = 0;
  int minor_version = 1;
  std::string_view phrase;
  std::vector<Field> fields;
  Framing framing = Framing::none;
  std::uint64_t content_length = 0;
  bool has_content_length = false;
  bool keep_alive = true;
};

// Incremental: scans only new bytes, refuses at the first invalid byte, and builds the head once
// its end has arrived. `text` is everything received since the message began (empty lines before a
// request line are skipped and counted into `consumed`).
class HeadScanner {
 public:
  struct Result {
    ParseState state = ParseState::need_more;
    std::size_t consumed = 0;  // length of the head with its final empty line, when complete
    std::string_view error;    // when bad, a constant text for people: "bare LF at byte 17"
    std::size_t error_offset = 0;
  };
  [[nodiscard]] Result scan_request(std::string_view text, RequestHead& head);
  [[nodiscard]] Result scan_response(std::string_view text, ResponseHead& head, bool head_request);
  void reset() noexcept { *this = {}; }

 private:
  enum class State : std::uint8_t {
    request_start,
    request_start_lf,
    method,
    target_start,
    target,
    request_version,
    status_version,
    status_code,
    status_code_end,
    phrase,
    line_lf,
    field_start,
    field_name,
    field_value,
    end_lf,
    complete,
  };
  [[nodiscard]] Result scan(std::string_view text, State first);
  [[nodiscard]] std::string_view step(std::string_view text, std::size_t& at);
  [[nodiscard]] std::string_view step_version(char c, std::size_t& at) noexcept;

  State state_ = State::complete;  // complete: nothing scanned yet
  std::size_t scanned_ = 0;        // bytes already scanned
  std::size_t start_ = 0;          // first byte after skipped empty lines
  std::size_t matched_ = 0;        // of a fixed text: version, status code
  std::size_t fields_ = 0;
};

// Absolute-form target, http:// only. nullopt: bad-request (user info, backslash, fragment, other
// scheme, control or non-ASCII bytes).
struct AbsoluteTarget {
  std::string_view authority;  // host[:port]
  // "/" if the target has neither path nor query; begins with "?" if it has only a query, and the
  // writer of the origin-form then puts "/" before it.
  std::string_view path_and_query;
  std::string_view path;           // for the log
  bool has_path_or_query = false;  // if false, OPTIONS means the server itself (RFC 9112 3.2.4)
};
[[nodiscard]] std::optional<AbsoluteTarget> parse_absolute_target(std::string_view target) noexcept;
// Why a target is none, as a constant text for people.
[[nodiscard]] std::string_view fault_of_target(std::string_view target) noexcept;
// The target of a request in a tunnel that is opened: origin-form (its authority is then empty),
// `*` of OPTIONS, or absolute-form with https://.
[[nodiscard]] std::optional<AbsoluteTarget> parse_inside_target(std::string_view target) noexcept;
// The same for a captured connection, which carries plain HTTP: http://.
[[nodiscard]] std::optional<AbsoluteTarget> parse_captured_target(std::string_view target) noexcept;

}  // namespace stile::http
