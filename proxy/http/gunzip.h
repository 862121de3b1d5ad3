// Gunzip: decodes a gzip stream piece by piece. Pure.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;

namespace stile::http {

class Gunzip {
 public:
  Gunzip();
  // Decodes up to `most` bytes into `out` and removes from `in` what was used. False: this is not
  // gzip. Call it again while `in` is not empty.
  [[nodiscard]] bool decode(std::string_view& in, std::string& out, std::size_t most);
  // The data is complete: its last byte and its checksum have arrived.
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }

 private:
  struct End {
    void operator()(z_stream_s* stream) const noexcept;
  };
  std::unique_ptr<z_stream_s, End> stream_;
  bool is_complete_ = false;
};

}  // namespace stile::http
