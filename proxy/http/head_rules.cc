// The rules of RFC 9112 6 and 9.3 without their leniencies: two readers of one head must agree.
#include "proxy/http/head_rules.h"

#include <limits>

#include "base/ascii.h"

namespace stile::http {
namespace {

// The special fields of a head, collected in one pass.
struct Seen {
  std::string_view host;
  std::size_t hosts = 0, lengths = 0, encodings = 0, expects = 0, options = 0;
  std::uint64_t length = 0;
  bool has_close = false, has_keep_alive = false;
};

std::optional<std::uint64_t> parse_length(std::string_view digits) noexcept {
  // Many origins use signed 64-bit lengths.
  constexpr std::uint64_t max = std::numeric_limits<std::int64_t>::max();
  if (digits.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (max - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

std::string_view read_length(std::string_view value, Seen& seen) noexcept {
  const auto length = parse_length(value);
  if (!length) return "malformed Content-Length";
  if (seen.lengths++ != 0 && *length != seen.length) return "two different Content-Length";
  seen.length = *length;
  return {};
}

std::string_view read_encoding(std::string_view value, Seen& seen) noexcept {
  if (seen.encodings++ != 0) return "more than one Transfer-Encoding";
  return equal_ignoring_case(value, "chunked") ? "" : "Transfer-Encoding other than chunked";
}

std::string_view read_connection(std::string_view value, Seen& seen) noexcept {
  const auto take = [&seen](std::string_view option) {
    if (++seen.options > max_connection_options) return false;
    // A reader that drops the named field leaves the next reader without the message's end.
    if (is_framing(field_kind(option))) return false;
    seen.has_close |= equal_ignoring_case(option, "close");
    seen.has_keep_alive |= equal_ignoring_case(option, "keep-alive");
    return true;
  };
  return for_each_option(value, take) ? "" : "malformed Connection";
}

std::string_view read_special(const Field& field, Seen& seen) noexcept {
  if (is_disguised(field.name, field.kind))
    return "underscore in the name of a framing or hop-by-hop field";
  switch (field.kind) {
    case FieldKind::host:
      seen.host = field.value;
      return seen.hosts++ == 0 ? "" : "more than one Host";
    case FieldKind::content_length:
      return read_length(field.value, seen);
    case FieldKind::transfer_encoding:
      return read_encoding(field.value, seen);
    case FieldKind::connection:
    case FieldKind::proxy_connection:
      return read_connection(field.value, seen);
    case FieldKind::expect:
      ++seen.expects;
      return {};
    case FieldKind::end_to_end:
    case FieldKind::hop_by_hop:
    case FieldKind::via:
      break;
  }
  return {};
}

RuleBreak read_fields(const std::vector<Field>& fields, Seen& seen) noexcept {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].kind == FieldKind::end_to_end) continue;
    const std::string_view error = read_special(fields[i], seen);
    if (!error.empty()) return {error, i};
  }
  return {};
}

// RFC 9112 6.1, request smuggling: two lengths mean two readings; HTTP/1.0 readers know no chunks.
std::string_view framing_conflict(const Seen& seen, int minor_version) noexcept {
  if (seen.encodings == 0) return {};
  if (seen.lengths != 0) return "Transfer-Encoding with Content-Length";
  return minor_version == 0 ? "Transfer-Encoding in HTTP/1.0" : "";
}

bool stays_open(const Seen& seen, int minor_version) noexcept {
  return !seen.has_close && (minor_version == 1 || seen.has_keep_alive);
}

std::string_view request_conflict(const RequestHead& head, const Seen& seen) noexcept {
  if (seen.lengths > 1) return "more than one Content-Length";
  if (head.is_connect) {
    // The tunnel follows a CONNECT directly; a body before it could hide data.
    return seen.lengths + seen.encodings == 0 ? "" : "CONNECT with a body";
  }
  if (head.minor_version == 1 && seen.hosts == 0) return "HTTP/1.1 without Host";
  return framing_conflict(seen, head.minor_version);
}

}  // namespace

RuleBreak apply_request_rules(RequestHead& head) noexcept {
  Seen seen;
  const RuleBreak broken = read_fields(head.fields, seen);
  if (!broken.error.empty()) return broken;
  if (const auto error = request_conflict(head, seen); !error.empty()) return {error};
  for (std::size_t i = 0; seen.expects != 0 && i < head.fields.size(); ++i) {
    if (head.fields[i].kind != FieldKind::expect) continue;
    if (seen.expects > 1 || !equal_ignoring_case(head.fields[i].value, "100-continue")) {
      return {"Expect other than 100-continue", i};
    }
  }

  head.host = seen.host;
  head.has_host = seen.hosts != 0;
  head.has_content_length = seen.lengths != 0;
  head.content_length = seen.length;
  head.framing = seen.encodings != 0 ? Framing::chunked
                 : seen.lengths != 0 ? Framing::length
                                     : Framing::none;
  head.keep_alive = stays_open(seen, head.minor_version);
  head.expects_continue =
      seen.expects != 0 && head.minor_version == 1 && head.framing != Framing::none;
  return {};
}

RuleBreak apply_response_rules(ResponseHead& head, bool head_request) noexcept {
  Seen seen;
  const RuleBreak broken = read_fields(head.fields, seen);
  if (!broken.error.empty()) return broken;
  const std::string_view error = framing_conflict(seen, head.minor_version);
  if (!error.empty()) return {error};

  // RFC 9112 6.3, in its order. Equal lengths in several fields count as one: some origins send
  // them, and the rewritten head has only one.
  const bool is_bodyless =
      head_request || head.status < 200 || head.status == 204 || head.status == 304;
  head.has_content_length = seen.lengths != 0;
  head.content_length = seen.length;
  head.framing = is_bodyless           ? Framing::none
                 : seen.encodings != 0 ? Framing::chunked
                 : seen.lengths != 0   ? Framing::length
                                       : Framing::to_close;
  head.keep_alive = head.framing != Framing::to_close && stays_open(seen, head.minor_version);
  return {};
}

}  // namespace stile::http
