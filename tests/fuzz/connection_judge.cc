// Judge: what must hold of a connection, whatever its two ends send and however it is timed.
#include "tests/fuzz/connection_judge.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "proxy/tls/client_hello.h"
#include "tests/fuzz/check.h"

namespace stile::fuzz {
namespace {

// The value of a key in a line of our own log: never escaped quotes in what is looked for here.
std::string_view value_of(std::string_view line, std::string_view key) {
  const std::string name = '"' + std::string{key} + "\":";
  const auto at = line.find(name);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + name.size());
  const bool is_text = line.starts_with('"');
  if (is_text) line.remove_prefix(1);
  return line.substr(0, line.find_first_of(is_text ? "\"" : ",}"));
}

std::uint64_t number_of(std::string_view digits) {
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

constexpr std::string_view established = "HTTP/1.1 200 Connection established\r\n\r\n";

// Takes one body off the front; false: it is not all there.
bool take_body(std::string_view& bytes, const http::ResponseHead& head) {
  switch (head.framing) {
    case http::Framing::none:
      return true;
    case http::Framing::length: {
      const bool is_whole = bytes.size() >= head.content_length;
      bytes.remove_prefix(std::min<std::uint64_t>(bytes.size(), head.content_length));
      return is_whole;
    }
    case http::Framing::to_close:
      bytes = {};
      return false;
    case http::Framing::chunked: {
      http::ChunkedDecoder decoder{0};
      for (;;) {
        const auto step = decoder.next(bytes);
        STILE_FUZZ_CHECK(step.kind != http::ChunkedDecoder::Step::Kind::bad);
        bytes.remove_prefix(step.consumed);
        if (step.kind == http::ChunkedDecoder::Step::Kind::end) return true;
        if (step.kind == http::ChunkedDecoder::Step::Kind::need_more) return false;
      }
    }
  }
  return false;
}

// Takes one answer, with the interim ones before it; false: nothing follows it.
bool take_answer(std::string_view& bytes, bool to_head) {
  for (;;) {
    http::HeadScanner scanner;
    http::ResponseHead head;
    const auto found = scanner.scan_response(bytes, head, to_head);
    STILE_FUZZ_CHECK(found.state != http::ParseState::bad);
    if (found.state == http::ParseState::need_more) {
      bytes = {};
      return false;
    }
    bytes.remove_prefix(found.consumed);
    if (head.status >= 200) return take_body(bytes, head);
    STILE_FUZZ_CHECK(head.status != 101);
  }
}

// A refusal for want of a log has no line that would say whether it answers a HEAD.
void take_unlogged_answers(std::string_view& bytes) {
  while (bytes.starts_with("HTTP/1.1 503 audit-unavailable\r\n")) {
    const auto head_end = bytes.find("\r\n\r\n");
    const bool to_head =
        head_end == std::string_view::npos ||
        !bytes.substr(head_end + 4).starts_with("{\"error\":\"audit-unavailable\"");
    if (!take_answer(bytes, to_head)) return;
  }
}

}  // namespace

std::vector<RequestLine> lines_in(std::string_view text) {
  using Event = RequestLine::Event;
  std::vector<RequestLine> found;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto event = value_of(line, "event");
    if (event != "open" && event != "deny" && event != "close") continue;
    RequestLine request;
    request.event = event == "open" ? Event::open : event == "deny" ? Event::deny : Event::close;
    request.conn = number_of(value_of(line, "conn"));
    request.port = number_of(value_of(line, "port"));
    request.agent = value_of(line, "agent");
    request.method = value_of(line, "method");
    request.host = value_of(line, "host");
    request.sni = value_of(line, "sni");
    request.reason = value_of(line, "reason");
    found.push_back(std::move(request));
  }
  return found;
}

void RequestReader::add(std::string_view bytes, std::string_view own_host,
                        const std::vector<std::string>& stripped) {
  using Kind = http::ChunkedDecoder::Step::Kind;
  buffer_ += bytes;
  while (!buffer_.empty()) {
    if (part_ == Part::none) {
      ++begun_;
      scanner_.reset();
      part_ = Part::head;
    }
    if (part_ == Part::head) {
      read_head(own_host, stripped);
      if (part_ == Part::head) return;
    } else if (part_ == Part::length) {
      const auto taken = std::min<std::uint64_t>(left_, buffer_.size());
      buffer_.erase(0, taken);
      left_ -= taken;
      if (left_ == 0) part_ = Part::none;
    } else {
      const auto step = chunks_.next(buffer_);
      STILE_FUZZ_CHECK(step.kind != Kind::bad);
      buffer_.erase(0, step.consumed);
      if (step.kind == Kind::end) part_ = Part::none;
    }
  }
}

void RequestReader::read_head(std::string_view own_host, const std::vector<std::string>& stripped) {
  http::RequestHead head;
  const auto found = scanner_.scan_request(buffer_, head);
  STILE_FUZZ_CHECK(found.state != http::ParseState::bad);
  if (found.state == http::ParseState::need_more) return;
  STILE_FUZZ_CHECK(head.host.substr(0, head.host.find(':')) == own_host);
  for (const http::Field& field : head.fields) {
    for (const auto& name : stripped) STILE_FUZZ_CHECK(!equal_ignoring_case(field.name, name));
  }
  left_ = head.content_length;
  part_ = Part::none;
  if (head.framing == http::Framing::length && left_ > 0) part_ = Part::length;
  if (head.framing == http::Framing::chunked) {
    part_ = Part::chunks;
    chunks_ = http::ChunkedDecoder{0};
  }
  buffer_.erase(0, found.consumed);
}

std::string_view judge_answers(std::string_view received, const std::vector<RequestLine>& lines,
                               bool lines_were_lost) {
  for (const RequestLine& line : lines) {
    if (line.event == RequestLine::Event::close) continue;
    take_unlogged_answers(received);
    if (received.empty()) return {};
    if (line.method == "CONNECT" && received.starts_with(established)) {
      return received.substr(established.size());
    }
    if (!take_answer(received, line.method == "HEAD")) return {};
  }
  // The 200 of a tunnel goes out before its decision has fallen: the hello is still to come.
  if (established.starts_with(received)) return {};
  STILE_FUZZ_CHECK(received.empty() || lines_were_lost);
  return {};
}

void judge_ends(const std::vector<RequestLine>& lines, bool lines_were_lost) {
  std::int64_t open = 0;
  for (const RequestLine& line : lines) {
    if (line.event == RequestLine::Event::open) STILE_FUZZ_CHECK(open++ == 0);
    if (line.event == RequestLine::Event::close) STILE_FUZZ_CHECK(open-- == 1);
  }
  STILE_FUZZ_CHECK(open == 0 || lines_were_lost);
}

bool is_relayed(std::string_view received, std::string_view sent_by_origin) {
  if (sent_by_origin.starts_with(received)) return true;
  if (!received.ends_with(tls::access_denied_alert)) return false;
  received.remove_suffix(tls::access_denied_alert.size());
  return sent_by_origin.starts_with(received);
}

}  // namespace stile::fuzz
