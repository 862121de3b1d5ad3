// Chunked bodies (RFC 9112 7.1), byte by byte except for the data itself.
#include "proxy/http/chunked.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "proxy/http/fields.h"

namespace stile::http {
ChunkedDecoder::Step ChunkedDecoder::next(std::string_view input) {
  std::size_t at = 0;
  for (; state_ != State::done && state_ != State::broken && at < input.size(); ++at) {
    if (state_ == State::data) {
      const std::string_view data =
          input.substr(at, std::min<std::uint64_t>(left_, input.size() - at));
      left_ -= data.size();
      if (left_ == 0) state_ = State::data_cr;
      return {Step::Kind::data, at + data.size(), data};
    }
    state_ = after(input[at]);
  }
  if (state_ == State::broken) return {Step::Kind::bad, at, {}};
  return {state_ == State::done ? Step::Kind::end : Step::Kind::need_more, at, {}};
}

ChunkedDecoder::State ChunkedDecoder::after(char c) noexcept {
  switch (state_) {
    case State::size:
    case State::extension:
      return after_size(c);
    case State::size_lf:
      line_bytes_ = digits_ = 0;
      if (c != '\n') return State::broken;
      return left_ == 0 ? State::trailer_start : State::data;
    case State::data_cr:
      return c == '\r' ? State::data_lf : State::broken;
    case State::data_lf:
      return c == '\n' ? State::size : State::broken;
    case State::trailer_start:
      return c == '\r' ? State::end_lf : after_trailer(c);
    case State::trailer_name:
    case State::trailer_value:
    case State::trailer_lf:
      return after_trailer(c);
    case State::end_lf:
      return c == '\n' ? State::done : State::broken;
    case State::data:
    case State::done:
    case State::broken:
      break;
  }
  return State::broken;
}

// CR or `;` follows the digits directly. Some old senders padded with blanks there; one reader
// takes them as part of the number, another as its end.
ChunkedDecoder::State ChunkedDecoder::after_size(char c) noexcept {
  constexpr std::size_t max_digits = 16;
  constexpr std::uint64_t max_size = std::uint64_t{1} << 59;  // times 16 still below the sign bit
  if (c == '\r') return digits_ != 0 ? State::size_lf : State::broken;
  if (++line_bytes_ > max_chunk_line) return State::broken;
  if (state_ == State::extension) return is_in(value_byte, c) ? State::extension : State::broken;
  if (c == ';') return digits_ != 0 ? State::extension : State::broken;
  const int digit = hex_value(c);
  if (digit < 0 || ++digits_ > max_digits) return State::broken;
  if (left_ >= max_size) return State::broken;  // readers that count with a sign would wrap
  left_ = left_ << 4 | static_cast<std::uint64_t>(digit);
  return State::size;
}

ChunkedDecoder::State ChunkedDecoder::after_trailer(char c) noexcept {
  if (++trailer_bytes_ > max_trailer_) return State::broken;
  switch (state_) {
    case State::trailer_start:
      return is_in(token_byte, c) ? State::trailer_name : State::broken;
    case State::trailer_name:
      if (c == ':') return State::trailer_value;
      return is_in(token_byte, c) ? State::trailer_name : State::broken;
    case State::trailer_value:
      if (c == '\r') return State::trailer_lf;
      return is_in(value_byte, c) ? State::trailer_value : State::broken;
    default:
      return c == '\n' ? State::trailer_start : State::broken;
  }
}

void append_chunk(std::string& out, std::string_view data) {
  char size[16];
  const auto end = std::to_chars(size, size + sizeof size, data.size(), 16).ptr;
  out.append(size, end);
  out += "\r\n";
  out += data;
  out += "\r\n";
}

}  // namespace stile::http
