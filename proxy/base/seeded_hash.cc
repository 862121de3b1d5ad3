// SeededHash: SipHash-1-3 with a random key per process.
#include "proxy/base/seeded_hash.h"

#include <bit>
#include <cstring>

#include "base/random.h"

namespace stile {
namespace {

struct SipState {
  std::uint64_t a, b, c, d;

  void round() noexcept {
    a += b;
    b = std::rotl(b, 13) ^ a;
    a = std::rotl(a, 32);
    c += d;
    d = std::rotl(d, 16) ^ c;
    a += d;
    d = std::rotl(d, 21) ^ a;
    c += b;
    b = std::rotl(b, 17) ^ c;
    c = std::rotl(c, 32);
  }
  void absorb(std::uint64_t block) noexcept {
    d ^= block;
    round();
    a ^= block;
  }
};

// Little-endian on every machine.
std::uint64_t load(const char* bytes, std::size_t size) noexcept {
  std::uint64_t block = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&block, bytes, size);
  } else {
    for (std::size_t i = 0; i < size; ++i) {
      block |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
  }
  return block;
}

SipKey draw_key() {
  Random random;
  return {random.next(), random.next()};
}

}  // namespace

std::uint64_t sip_hash(const SipKey& key, std::string_view bytes) noexcept {
  SipState state{key.first ^ 0x736f6d6570736575, key.second ^ 0x646f72616e646f6d,
                 key.first ^ 0x6c7967656e657261, key.second ^ 0x7465646279746573};
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) state.absorb(load(at, 8));
  state.absorb((left > 0 ? load(at, left) : 0) | std::uint64_t{bytes.size() & 0xff} << 56);
  state.c ^= 0xff;
  for (int i = 0; i < 3; ++i) state.round();
  return state.a ^ state.b ^ state.c ^ state.d;
}

std::size_t SeededHash::operator()(std::string_view bytes) const noexcept {
  static const SipKey key = draw_key();  // without randomness the process ends here, at its start
  return sip_hash(key, bytes);
}

}  // namespace stile
