// FramePool: memory for coroutine frames.
#include "proxy/base/frame_pool.h"

#include <array>
#include <new>
#include <utility>

#include "base/sanitized.h"

namespace stile {
namespace {

// The sanitizers must see each frame being allocated and freed.
constexpr bool is_on = !is_sanitized;

constexpr std::size_t grain = 64;
constexpr std::size_t largest = 4096;
// The most that a thread keeps; memory beyond that goes back to malloc.
constexpr std::size_t most_kept = 1024 * 1024;

class FramePool {
 public:
  FramePool() = default;
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;
  ~FramePool() {
    for (Block* block : shelves_) {
      while (block != nullptr) ::operator delete(std::exchange(block, block->next));
    }
  }

  void* take(std::size_t size) {
    const std::size_t grains = grains_of(size);
    Block*& top = shelves_[grains];
    if (top == nullptr) return ::operator new(grains* grain);
    kept_ -= grains * grain;
    return std::exchange(top, top->next);
  }
  void give_back(void* block, std::size_t size) noexcept {
    const std::size_t grains = grains_of(size);
    if (kept_ + grains * grain > most_kept) return ::operator delete(block);
    kept_ += grains * grain;
    // On top: the last used block is still in the CPU cache.
    shelves_[grains] = new (block) Block{shelves_[grains]};
  }

 private:
  struct Block {
    Block* next;
  };
  static std::size_t grains_of(std::size_t size) noexcept { return (size + grain - 1) / grain; }

  std::array<Block*, largest / grain + 1> shelves_{};  // by size in grains
  std::size_t kept_ = 0;
};

thread_local FramePool pool;

}  // namespace

void* allocate_frame(std::size_t size) {
  return is_on && size <= largest ? pool.take(size) : ::operator new(size);
}

void free_frame(void* frame, std::size_t size) noexcept {
  if (is_on && size <= largest) {
    pool.give_back(frame, size);
  } else {
    ::operator delete(frame);
  }
}

}  // namespace stile
