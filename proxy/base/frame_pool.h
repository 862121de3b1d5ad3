// FramePool: memory for coroutine frames, kept by each thread for its next ones.
//
// A request makes a dozen frames, and some are larger than what malloc keeps at hand for a thread;
// for those it merges and splits blocks each time, which is a good part of what a refusal costs.
#pragma once

#include <cstddef>

namespace stile {

[[nodiscard]] void* allocate_frame(std::size_t size);
void free_frame(void* frame, std::size_t size) noexcept;

// Base of a promise: its coroutine's frame comes from the pool.
struct PooledFrame {
  // NOLINTNEXTLINE(misc-new-delete-overloads,cert-dcl54-cpp): a delete with the size matches it
  static void* operator new(std::size_t size) { return allocate_frame(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { free_frame(frame, size); }
};

}  // namespace stile
