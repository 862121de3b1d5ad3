// The hash of names.
#include "acl/host_key.h"

#include <array>

namespace stile::acl {
namespace {

// The hash of a name is the sum of its bytes, each times a power of an odd number that counts from
// the end of the name: so the hashes of all its parents fall off on the way from the last byte to
// the first, and no byte waits for the product of another.
constexpr std::array<std::uint64_t, Host::max_length> make_powers() {
  std::array<std::uint64_t, Host::max_length> powers{};
  std::uint64_t power = 0x9e3779b97f4a7c15;
  for (auto& p : powers) {
    p = power;
    power *= 0xd6e8feb86659fd93;
  }
  return powers;
}
constexpr auto powers = make_powers();

constexpr std::uint64_t term(char c, std::size_t from_end) noexcept {
  return static_cast<unsigned char>(c) * powers[from_end];
}

// Spreads the sum over all bits; the table takes the upper ones.
constexpr std::uint32_t finish(std::uint64_t sum) noexcept {
  sum = (sum ^ sum >> 32) * 0xd6e8feb86659fd93;
  return static_cast<std::uint32_t>(sum >> 32);
}

}  // namespace

std::uint32_t hash_name(std::string_view name) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < name.size(); ++i) sum += term(name[name.size() - 1 - i], i);
  return finish(sum);
}

HostKey::HostKey(const Host& host) noexcept : name_{host.text()} {
  // Every byte stores a part, and only a dot keeps it: a branch on the bytes would be guessed wrong
  // once or twice in each name.
  std::array<std::uint64_t, max_labels + 1> sums;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < name_.size(); ++i) {
    const std::size_t at = name_.size() - 1 - i;
    sums[labels_] = sum;
    parts_[labels_].offset = static_cast<std::uint32_t>(at + 1);
    labels_ += name_[at] == '.' ? 1U : 0U;
    sum += term(name_[at], i);
  }
  if (name_.empty()) return;
  sums[labels_] = sum;
  parts_[labels_++].offset = 0;
  for (std::size_t i = 0; i < labels_; ++i) parts_[i].hash = finish(sums[i]);
}

}  // namespace stile::acl
