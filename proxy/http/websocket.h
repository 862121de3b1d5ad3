// FrameReader: the payload of WebSocket frames that a client sends (RFC 6455 section 5). Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace stile::http {

class FrameReader {
 public:
  // Appends the unmasked payload of messages to `data`, and that of control frames, which may stand
  // between the parts of a message, to `control`. False: this is not a frame of a client without
  // extensions, and nothing after it can be read.
  [[nodiscard]] bool feed(std::string_view bytes, std::string& data, std::string& control);
  // How many of the bytes that were fed last come before the end of a message, or of a control
  // frame between two messages: what follows is the beginning of the next one.
  [[nodiscard]] std::size_t whole_bytes() const noexcept { return whole_bytes_; }

 private:
  // Complete, if it has its mask.
  [[nodiscard]] bool read_head();
  void end_frame(std::size_t fed_bytes) noexcept;

  static constexpr std::size_t longest_head = 14;
  std::array<unsigned char, longest_head> head_{};
  std::size_t head_size_ = 0;
  std::size_t whole_bytes_ = 0;
  bool is_control_ = false;
  bool is_in_message_ = false;  // between the frames of one
  bool is_in_payload_ = false;
  std::array<unsigned char, 4> mask_{};
  std::size_t mask_at_ = 0;
  std::uint64_t left_ = 0;
};

}  // namespace stile::http
