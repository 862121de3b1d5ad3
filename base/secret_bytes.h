// SecretBytes: bytes in memory that is left out of core dumps, of swap and of child processes, and
// wiped at the end.
#pragma once

#include <cstddef>
#include <string_view>

namespace stile {

class SecretBytes {
 public:
  explicit SecretBytes(std::string_view value);  // throws std::bad_alloc
  ~SecretBytes();
  SecretBytes(const SecretBytes&) = delete;
  SecretBytes& operator=(const SecretBytes&) = delete;
  [[nodiscard]] std::string_view view() const noexcept { return {bytes_, size_}; }

 private:
  char* bytes_;
  std::size_t size_, mapped_;
};

}  // namespace stile
