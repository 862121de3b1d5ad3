// FramePool: a per-thread pool of memory for coroutine frames and other objects of a connection.
//
// A request makes a dozen frames. Some are larger than the blocks that malloc caches per thread;
// for those malloc merges and splits blocks each time, which is a good part of the cost of a
// refusal. Of smaller blocks malloc caches seven, and the connections of one turn use more.
#pragma once

#include <cstddef>

namespace stile {

[[nodiscard]] void* allocate_frame(std::size_t size);
void free_frame(void* frame, std::size_t size) noexcept;

// Base class of a promise (the coroutine's frame then comes from the pool) or of a class with one
// object per connection. An object may be freed on another thread: that thread then keeps the
// memory.
struct Pooled {
  // NOLINTNEXTLINE(misc-new-delete-overloads,cert-dcl54-cpp): a delete with the size matches it
  static void* operator new(std::size_t size) { return allocate_frame(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { free_frame(frame, size); }
};

}  // namespace stile
