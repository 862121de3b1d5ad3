// SecretBytes: bytes in memory that is left out of core dumps, of swap and of child processes, and
// wiped at the end.
#include "base/secret_bytes.h"

#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>

namespace stile {

SecretBytes::SecretBytes(std::string_view value) : size_{value.size()} {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  mapped_ = (size_ / page + 1) * page;
  void* place =
      ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) throw std::bad_alloc{};
  // All are best effort: a user may lock only a little memory.
  ::madvise(place, mapped_, MADV_DONTDUMP);
  static_cast<void>(::mlock(place, mapped_));
  ::madvise(place, mapped_, MADV_WIPEONFORK);
  bytes_ = static_cast<char*>(place);
  std::memcpy(bytes_, value.data(), size_);
}

SecretBytes::~SecretBytes() {
  ::explicit_bzero(bytes_, size_);
  ::munmap(bytes_, mapped_);
}

}  // namespace stile
