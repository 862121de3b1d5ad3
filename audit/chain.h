// The hash chain: each line carries the hash of the previous line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/sha256.h"

namespace stile::audit {

inline constexpr std::string_view chain_name = "main";  // one writer, one chain

// The last line: its number, and the SHA-256 of its bytes without the newline.
struct ChainHead {
  std::uint64_t seq = 0;
  HexHash hash = zero_hash;
  friend bool operator==(const ChainHead&, const ChainHead&) = default;
};

// Linker: finishes lines one by one. Without `chain` it only numbers them.
class Linker {
 public:
  explicit Linker(bool chain) : chain_{chain} {}

  // Appends before, the next number, after, the link and a newline; moves `head` to this line.
  void append(std::string& out, ChainHead& head, std::string_view before, std::string_view after);

 private:
  bool chain_;
  Sha256 sha_;
};

}  // namespace stile::audit
