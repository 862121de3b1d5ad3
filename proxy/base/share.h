// Share: how much of a turn of the loop somebody's sockets have taken together.
#pragma once

#include <chrono>
#include <cstdint>

namespace stile {

struct Share {
  // After this much of a turn, all others come first.
  static constexpr std::chrono::microseconds most{250};

  void add(std::uint64_t of_turn, std::chrono::nanoseconds time) noexcept {
    if (turn != of_turn) taken = {};
    turn = of_turn;
    taken += time;
  }
  [[nodiscard]] bool is_used_up(std::uint64_t in_turn) const noexcept {
    return turn == in_turn && taken >= most;
  }

  std::uint64_t turn = 0;
  std::chrono::nanoseconds taken{0};
};

}  // namespace stile
