// Meter: the counters that one direction draws on before its bytes flow.
#include "proxy/net/meter.h"

namespace stile::net {

std::size_t Meter::take(std::size_t want) noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    const std::size_t granted = allowances_[i]->take(want);
    for (std::size_t j = 0; j < i; ++j) allowances_[j]->give_back(want - granted);
    want = granted;
  }
  return want;
}

void Meter::give_back(std::size_t unused) noexcept {
  for (std::size_t i = 0; i < count_; ++i) allowances_[i]->give_back(unused);
}

bool Meter::is_spent() const noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    if (allowances_[i]->is_spent()) return true;
  }
  return false;
}

void Meter::expect() noexcept {
  for (std::size_t i = 0; i < count_; ++i) allowances_[i]->expect();
}

}  // namespace stile::net
