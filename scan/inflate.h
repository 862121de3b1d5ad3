// Inflate: decodes gzip, zlib and raw deflate data piece by piece, also several gzip members in a
// row. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;

namespace stile::scan {

class Inflate {
 public:
  enum class Format : std::uint8_t {
    gzip,
    gzip_or_zlib,
    deflate,  // with or without the header of zlib: clients disagree (RFC 9110 8.4.1.2)
  };
  explicit Inflate(Format format);  // throws std::bad_alloc
  // What follows is decoded from its beginning.
  void begin_again();

  enum class State : std::uint8_t {
    goes_on,
    has_ended,  // one member; another one may follow
    is_bad,     // the rest is not compressed data
  };
  // Decodes up to `step` bytes and removes from `in` what was used. `out` is valid until the next
  // call. All is decoded when `in` is empty and `out` shorter than a step.
  [[nodiscard]] State decode(std::string_view& in, std::string_view& out);

  static constexpr std::size_t step = 64 * 1024;

 private:
  [[nodiscard]] int run(std::string_view& in);
  struct End {
    void operator()(z_stream_s* stream) const noexcept;
  };
  Format format_;
  bool is_raw_ = false;
  std::string first_;  // two bytes, which tell whether there is a header of zlib
  std::unique_ptr<z_stream_s, End> stream_;
  std::unique_ptr<std::array<char, step>> buffer_;
};

}  // namespace stile::scan
