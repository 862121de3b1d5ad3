// Heads: a byte-wise scan that refuses as early as it can, then one pass over the valid text.
#include "proxy/http/head.h"

#include "proxy/http/head_rules.h"

namespace stile::http {
namespace {

constexpr std::string_view version_text = "HTTP/1.";
constexpr std::size_t crlf = 2;

// The text for a byte that is invalid where it was found.
std::string_view wrong(char c, std::string_view otherwise) noexcept {
  if (c == '\n') return "bare LF";
  if (c == '\0') return "NUL byte";
  if (c != '\r' && static_cast<unsigned char>(c) < 0x20) return "control byte";
  return otherwise;
}

// Moves `at` past the bytes of that class; false if the text ends there.
bool skip(ByteClass byte_class, std::string_view text, std::size_t& at) noexcept {
  while (at < text.size() && is_in(byte_class, text[at])) ++at;
  return at < text.size();
}

void read_fields(std::string_view text, std::size_t at, std::vector<Field>& fields) {
  while (text[at] != '\r') {
    const std::size_t colon = text.find(':', at);
    const std::size_t end = text.find('\r', colon);
    fields.emplace_back(text.substr(at, colon - at),
                        without_blanks(text.substr(colon + 1, end - colon - 1)));
    at = end + crlf;
  }
}

// Empties a head, but keeps the capacity of its fields.
template <class Head>
void clear(Head& head) {
  std::vector<Field> fields = std::move(head.fields);
  fields.clear();
  head = Head{};
  head.fields = std::move(fields);
}

template <class Head>
HeadScanner::Result finished(std::string_view text, const Head& head, const RuleBreak& broken,
                             std::size_t consumed) noexcept {
  if (broken.error.empty()) return {ParseState::complete, consumed, {}, 0};
  const std::size_t offset =
      head.fields.empty()
          ? 0
          : static_cast<std::size_t>(head.fields[broken.field].name.data() - text.data());
  return {ParseState::bad, 0, broken.error, offset};
}

}  // namespace

HeadScanner::Result HeadScanner::scan_request(std::string_view text, RequestHead& head) {
  const Result result = scan(text, State::request_start);
  if (result.state != ParseState::complete) return result;
  clear(head);
  const std::size_t method_end = text.find(' ', start_);
  const std::size_t target_end = text.find(' ', method_end + 1);
  const std::size_t minor_at = target_end + 1 + version_text.size();
  head.method = text.substr(start_, method_end - start_);
  head.target = text.substr(method_end + 1, target_end - method_end - 1);
  head.minor_version = text[minor_at] - '0';
  head.is_connect = head.method == "CONNECT";
  head.fields.reserve(fields_);
  read_fields(text, minor_at + 1 + crlf, head.fields);
  reset();
  return finished(text, head, apply_request_rules(head), result.consumed);
}

HeadScanner::Result HeadScanner::scan_response(std::string_view text, ResponseHead& head,
                                               bool head_request) {
  const Result result = scan(text, State::status_version);
  if (result.state != ParseState::complete) return result;
  clear(head);
  constexpr std::size_t minor_at = version_text.size(), code_at = minor_at + 2;
  const std::size_t line_end = text.find('\r');
  head.minor_version = text[minor_at] - '0';
  for (std::size_t i = 0; i < 3; ++i) head.status = head.status * 10 + (text[code_at + i] - '0');
  if (line_end > code_at + 3) head.phrase = text.substr(code_at + 4, line_end - code_at - 4);
  head.fields.reserve(fields_);
  read_fields(text, line_end + crlf, head.fields);
  reset();
  return finished(text, head, apply_response_rules(head, head_request), result.consumed);
}

HeadScanner::Result HeadScanner::scan(std::string_view text, State first) {
  if (state_ == State::complete) state_ = first;
  std::size_t at = scanned_;
  while (at < text.size() && state_ != State::complete) {
    const std::string_view error = step(text, at);
    // Neither state nor position moves past a bad byte, so that a repeated call gives the same
    // result.
    if (!error.empty()) {
      scanned_ = at;
      return {ParseState::bad, 0, error, at};
    }
  }
  scanned_ = at;
  if (state_ != State::complete) return {};
  return {ParseState::complete, at, {}, 0};
}

// Takes the bytes from `at` that belong to one state. Returns what is wrong with text[at]; empty if
// nothing is.
std::string_view HeadScanner::step(std::string_view text, std::size_t& at) {
  const char c = text[at];
  const auto pass = [&](State next) {
    ++at;
    state_ = next;
    return std::string_view{};
  };
  switch (state_) {
    case State::request_start:
      start_ = at;
      if (c == '\r') return pass(State::request_start_lf);
      if (!is_in(token_byte, c)) return wrong(c, "no method");
      return pass(State::method);
    case State::request_start_lf:
      return c == '\n' ? pass(State::request_start) : "bare CR";
    case State::method:
      if (!skip(token_byte, text, at)) return {};
      return text[at] == ' ' ? pass(State::target_start) : wrong(text[at], "method is not a token");
    case State::target_start:
      return is_in(target_byte, c) ? pass(State::target) : wrong(c, "no target");
    case State::target:
      if (!skip(target_byte, text, at)) return {};
      return text[at] == ' ' ? pass(State::request_version)
                             : wrong(text[at], "target has a byte that is not visible ASCII");
    case State::request_version:
    case State::status_version:
      return step_version(c, at);
    case State::status_code:
      // 1xx to 5xx: for other codes it is not known whether a body follows.
      if (c < '0' || c > '9' || (matched_ == 0 && (c < '1' || c > '5')))
        return wrong(c, "bad status");
      if (++matched_ < 3) return pass(State::status_code);
      return pass(State::status_code_end);
    case State::status_code_end:
      // The blank is required even without a phrase, but some origins omit both. The line is
      // rewritten, so the client never sees this.
      if (c == ' ') return pass(State::phrase);
      return c == '\r' ? pass(State::line_lf) : wrong(c, "bad status");
    case State::phrase:
    case State::field_value:
      if (!skip(value_byte, text, at)) return {};
      return text[at] == '\r' ? pass(State::line_lf) : wrong(text[at], "control byte");
    case State::line_lf:
      return c == '\n' ? pass(State::field_start) : "bare CR";
    case State::field_start:
      if (c == '\r') return pass(State::end_lf);
      if (c == ' ' || c == '\t') return "folded line";
      if (!is_in(token_byte, c)) return wrong(c, "field name is not a token");
      if (fields_ == max_fields) return "too many fields";
      ++fields_;
      return pass(State::field_name);
    case State::field_name:
      if (!skip(token_byte, text, at)) return {};
      if (text[at] == ':') return pass(State::field_value);
      if (text[at] == ' ' || text[at] == '\t') return "blank before the colon";
      return wrong(text[at],
                   text[at] == '\r' ? "field without colon" : "field name is not a token");
    case State::end_lf:
      return c == '\n' ? pass(State::complete) : "bare CR";
    case State::complete:
      break;
  }
  return "internal";
}

// "HTTP/1.0" or "HTTP/1.1", then CR in a request and a blank in a response.
std::string_view HeadScanner::step_version(char c, std::size_t& at) noexcept {
  const bool is_request = state_ == State::request_version;
  const bool is_right = matched_ < version_text.size()    ? c == version_text[matched_]
                        : matched_ == version_text.size() ? c == '0' || c == '1'
                                                          : c == (is_request ? '\r' : ' ');
  if (!is_right) return wrong(c, "version is neither HTTP/1.0 nor HTTP/1.1");
  ++at;
  if (matched_++ > version_text.size()) {
    matched_ = 0;
    state_ = is_request ? State::line_lf : State::status_code;
  }
  return {};
}

}  // namespace stile::http
