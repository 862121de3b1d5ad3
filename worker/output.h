// Output: the last bytes that a task wrote, addressed by a cursor that counts from its first
// byte. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stile::worker {

class Output {
 public:
  explicit Output(std::size_t most_bytes) : most_{most_bytes} {}

  void append(std::string_view bytes);

  struct Piece {
    std::string text;          // valid UTF-8
    std::uint64_t cursor = 0;  // where the next piece begins
    std::uint64_t missed = 0;  // bytes between the given cursor and this piece that were dropped
  };
  // At most `most_bytes` from the cursor on. A character that is not complete yet stays for the
  // next piece unless the output `is_over`.
  [[nodiscard]] Piece read(std::uint64_t cursor, std::size_t most_bytes, bool is_over) const;

  // Whether a piece from there would have text. If it `is_over`, every byte counts.
  [[nodiscard]] bool has_text_after(std::uint64_t cursor, bool is_over) const;

  [[nodiscard]] std::uint64_t end() const noexcept { return begin_ + bytes_.size(); }

 private:
  std::size_t most_;
  std::uint64_t begin_ = 0;  // position of the first byte that is kept
  std::string bytes_;
};

}  // namespace stile::worker
