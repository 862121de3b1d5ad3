// ChunkedDecoder: decodes a chunked body strictly, without copying; append_chunk writes one chunk.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stile::http {

class ChunkedDecoder {
 public:
  static constexpr std::size_t max_chunk_line = 4096;

  explicit ChunkedDecoder(std::size_t max_trailer_bytes) : max_trailer_{max_trailer_bytes} {}

  struct Step {
    enum class Kind : std::uint8_t { need_more, data, end, bad };
    Kind kind = Kind::need_more;
    std::size_t consumed = 0;  // of the input
    std::string_view data;     // for data: a piece of the body, a view into the input
  };
  // Call again with the rest of the input until need_more (which has consumed all of it), end or
  // bad. Chunk extensions and trailers are read and dropped: a trailer could bring in a field that
  // was stripped from the head. The bytes after `end` belong to the next message.
  [[nodiscard]] Step next(std::string_view input);
  [[nodiscard]] bool has_ended() const noexcept { return state_ == State::done; }

 private:
  enum class State : std::uint8_t {
    size,
    extension,
    size_lf,
    data,
    data_cr,
    data_lf,
    trailer_start,
    trailer_name,
    trailer_value,
    trailer_lf,
    end_lf,
    done,
    broken,
  };
  [[nodiscard]] State after(char c) noexcept;
  [[nodiscard]] State after_size(char c) noexcept;
  [[nodiscard]] State after_trailer(char c) noexcept;

  State state_ = State::size;
  std::uint64_t left_ = 0;  // of the chunk
  std::size_t digits_ = 0, line_bytes_ = 0, trailer_bytes_ = 0;
  std::size_t max_trailer_;
};

// `data` as one chunk; empty data would be the end of the body.
void append_chunk(std::string& out, std::string_view data);

}  // namespace stile::http
