// Search: looks through one text that arrives in pieces, as it was sent and decoded.
//
// The work is bounded by a multiple of what arrived. Each decoding makes a text shorter, except for
// compressed data, which has a bound of its own. It is done in steps, so that a worker can serve
// other connections meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "scan/inflate.h"
#include "scan/steps.h"
#include "scan/watch.h"

namespace stile::scan {

class Search {
 public:
  enum class Of : std::uint8_t {
    body,          // or the messages of a WebSocket
    gzip_body,     // as its head declares
    deflate_body,  // likewise
    head,          // a short text, of which there can be many
  };
  explicit Search(std::shared_ptr<const Texts> texts, Of of = Of::body);

  enum class More : bool { no, yes };
  // Looks at the next piece together with the end of what came before it. `More::no`: it is the
  // last one. The piece must stay as it is until the steps end, and the next one comes after that.
  Steps begin(std::string_view piece, More more = More::yes);
  void feed(std::string_view piece, More more = More::yes) { begin(piece, more).finish(); }

  [[nodiscard]] Found found() const noexcept { return found_; }
  // Compressed so much that it was not decoded to its end. What it says is not known.
  [[nodiscard]] bool is_too_dense() const noexcept { return is_too_dense_; }
  // Not in the coding that its head declares. What it says is not known.
  [[nodiscard]] bool is_unreadable() const noexcept { return is_unreadable_; }
  // Bytes that were looked at, in all layers together.
  [[nodiscard]] std::uint64_t work() const noexcept {
    return work_ + (inflated_ ? inflated_->work() : 0);
  }
  // What is kept of the pieces.
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return tail_.size(); }

  // What is not decoded further: three layers of base64, hexadecimal or gzip, in any order.
  static constexpr unsigned most_layers = 3;
  static constexpr unsigned most_unescapes = 3;
  // What overlaps between two pieces. Nothing that is longer is found if it is cut.
  static constexpr std::size_t overlap = 4096;
  // About as many bytes are looked at in one step.
  static constexpr std::size_t step_bytes = 16 * 1024;

 private:
  // What decompression may cost, in bytes read and written, in all layers together.
  struct Budget {
    std::uint64_t always, received = 0, used = 0;
    std::size_t in_step = 0;  // bytes of work since the last stop
  };
  struct Stop {
    bool is_due;
    [[nodiscard]] bool await_ready() const noexcept { return !is_due; }
    void await_suspend(Steps::Handle /*stopped*/) const noexcept {}
    void await_resume() const noexcept {}
  };
  // Awaited after so many bytes of work: a step may end here.
  [[nodiscard]] Stop after(std::size_t bytes) noexcept;
  Search(std::shared_ptr<const Texts> texts, std::shared_ptr<Budget> budget, unsigned depth);

  Steps look(std::string_view text, unsigned layer);
  Steps look_once(std::string_view text);
  Steps look_at_gzip_in(std::string_view text, unsigned layer);
  Steps follow_compressed(std::string_view piece, More more);
  Steps unpack(std::string_view rest, std::string_view& rest_after);
  void begin_gzip();
  void charge(std::uint64_t bytes);
  void charge_embedded(std::uint64_t bytes);

  std::shared_ptr<const Texts> texts_;
  std::shared_ptr<Budget> budget_;
  unsigned depth_ = 0;  // how many layers of compression are around this text
  std::string tail_;    // of the last piece
  bool is_declared_ = false, is_inflating_ = false, begins_member_ = false;
  bool is_too_dense_ = false, is_unreadable_ = false;
  std::unique_ptr<Inflate> inflate_;   // of data that may go on in the next piece
  std::unique_ptr<Search> inflated_;   // what it says
  std::unique_ptr<Inflate> embedded_;  // of data in base64 and the like
  std::size_t silent_bytes_ = 0;       // that were read from a beginning on, and said nothing
  std::uint64_t embedded_left_ = 0;    // that may be used for it in this piece
  std::uint64_t work_ = 0;
  Found found_ = 0;
};

struct Findings {
  Found found = 0;
  bool is_too_dense = false;
};
// A whole text, short as a head is.
[[nodiscard]] Findings find_in(const std::shared_ptr<const Texts>& texts, std::string_view text);

}  // namespace stile::scan
