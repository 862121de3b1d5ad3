// FramePool: memory for coroutine frames and what else each connection makes, kept by each thread
// for its next ones.
//
// A request makes a dozen frames, and some are larger than what malloc keeps at hand for a thread;
// for those it merges and splits blocks each time, which is a good part of what a refusal costs. Of
// smaller ones malloc keeps seven, and the connections of one turn take more.
#pragma once

#include <cstddef>

namespace stile {

[[nodiscard]] void* allocate_frame(std::size_t size);
void free_frame(void* frame, std::size_t size) noexcept;

// Base of a promise, whose coroutine's frame then comes from the pool, or of a class of which each
// connection has one. What is made on one thread may end on another: its memory then stays there.
struct Pooled {
  // NOLINTNEXTLINE(misc-new-delete-overloads,cert-dcl54-cpp): a delete with the size matches it
  static void* operator new(std::size_t size) { return allocate_frame(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { free_frame(frame, size); }
};

}  // namespace stile
