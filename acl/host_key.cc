// The hash of names.
#include "acl/host_key.h"

#include <array>

namespace stile::acl {
namespace {

// The hash of a name is the sum of its bytes, each multiplied by a power of an odd number. The
// powers count from the end of the name, so one pass from the last byte to the first gives the
// hashes of all parents too, and no byte depends on the product of another.
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

// Spreads the sum over all bits; the table uses the upper ones.
constexpr std::uint32_t finish(std::uint64_t sum) noexcept {
  sum = (sum ^ sum >> 32) * 0xd6e8feb86659fd93;
  return static_cast<std::uint32_t>(sum >> 32);
}

}  // namespace

std::uint32_t hash_name(std::string_view name) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    sum += static_cast<unsigned char>(name[name.size() - 1 - i]) * powers[i];
  }
  return finish(sum);
}

HostKey::HostKey(const Host& host) noexcept : name_{host.text()} {
  if (name_.empty()) return;
  // Every byte stores a part, and only a dot keeps it: a branch on the bytes would be mispredicted
  // once or twice per name. A name of 253 bytes has at most 127 labels, so the last store is within
  // the array.
  std::uint64_t sums[max_labels];
  const char* const last = name_.data() + name_.size() - 1;
  const std::size_t size = name_.size();
  std::uint64_t sum = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const char c = *(last - i);
    sums[count] = sum;
    parts_[count].offset = static_cast<std::uint32_t>(size - i);
    count += c == '.' ? 1U : 0U;
    sum += static_cast<unsigned char>(c) * powers[i];
  }
  sums[count] = sum;
  parts_[count].offset = 0;
  labels_ = count + 1;
  for (std::size_t i = 0; i < labels_; ++i) parts_[i].hash = finish(sums[i]);
}

}  // namespace stile::acl
