// Memory that is refused. operator new of libstdc++ asks malloc, and throws when that says no.
#include <cerrno>
#include <cstddef>

#include "tests/faults/inject/board.h"

// A sanitizer brings an allocator of its own, which nothing may stand in front of.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// glibc's own names for them: dlsym() would allocate.
extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* __libc_calloc(std::size_t count, std::size_t size);
extern "C" void* __libc_realloc(void* block, std::size_t size);
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t size);

namespace {

bool is_refused() noexcept {
  if (!stile::faults::outcome_of(stile::faults::Call::allocate)) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) { return is_refused() ? nullptr : __libc_malloc(size); }

void* calloc(std::size_t count, std::size_t size) {
  return is_refused() ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* block, std::size_t size) {
  return is_refused() ? nullptr : __libc_realloc(block, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return is_refused() ? nullptr : __libc_memalign(alignment, size);
}
}

#endif
