// FrameReader: the payload of WebSocket frames that a client sends.
#include "proxy/http/websocket.h"

#include <algorithm>

namespace stile::http {
namespace {

constexpr unsigned char reserved_bits = 0x70, mask_bit = 0x80, end_bit = 0x80;
constexpr std::uint64_t longest_control = 125;

// Where the mask ends, from the second byte of a head.
std::size_t head_size(unsigned char second) noexcept {
  const unsigned length = second & 0x7fU;
  return 2 + (length == 126 ? 2U : length == 127 ? 8U : 0U) + 4;
}

}  // namespace

bool FrameReader::read_head() {
  const unsigned opcode = head_[0] & 15U;
  const bool is_data = opcode <= 2;
  is_control_ = opcode >= 8 && opcode <= 10;
  const std::size_t length_bytes = head_size(head_[1]) - 6;
  left_ = length_bytes == 0 ? head_[1] & 0x7fU : 0;
  for (std::size_t i = 0; i < length_bytes; ++i) left_ = left_ << 8U | head_[2 + i];
  std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(2 + length_bytes), 4, mask_.begin());
  mask_at_ = 0;
  is_in_payload_ = left_ > 0;
  if (is_control_) return left_ <= longest_control && (head_[0] & end_bit) != 0;
  return is_data && left_ >> 63U == 0;
}

void FrameReader::end_frame(std::size_t fed_bytes) noexcept {
  if (!is_control_) is_in_message_ = (head_[0] & end_bit) == 0;
  if (!is_in_message_) whole_bytes_ = fed_bytes;
}

bool FrameReader::feed(std::string_view bytes, std::string& data, std::string& control) {
  const std::size_t fed = bytes.size();
  whole_bytes_ = 0;
  while (!bytes.empty()) {
    if (is_in_payload_) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
      std::string& out = is_control_ ? control : data;
      const std::size_t begin = out.size();
      out.append(bytes.substr(0, size));
      for (std::size_t i = begin; i < out.size(); ++i) {
        out[i] = static_cast<char>(static_cast<unsigned char>(out[i]) ^ mask_[mask_at_++ % 4]);
      }
      bytes.remove_prefix(size);
      left_ -= size;
      is_in_payload_ = left_ > 0;
      if (!is_in_payload_) end_frame(fed - bytes.size());
      continue;
    }
    head_[head_size_++] = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    // Without its extension a reserved bit means nothing (5.2); a client always masks (5.3).
    if (head_size_ == 1 && (head_[0] & reserved_bits) != 0) return false;
    if (head_size_ == 2 && (head_[1] & mask_bit) == 0) return false;
    if (head_size_ >= 2 && head_size_ == head_size(head_[1])) {
      head_size_ = 0;
      if (!read_head()) return false;
      if (!is_in_payload_) end_frame(fed - bytes.size());
    }
  }
  return true;
}

}  // namespace stile::http
