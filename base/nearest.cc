// nearest: the known word that was probably meant.
#include "base/nearest.h"

#include <algorithm>
#include <array>
#include <utility>

namespace stile {
// Computes only the diagonal band within the limit, in three rows that take turns.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t too_far = limit + 1;
  if (std::max(a.size(), b.size()) > max_word) return too_far;
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return too_far;
  std::array<std::array<std::size_t, max_word + 1>, 3> rows;  // each is written before it is read
  auto *before = rows[0].data(), *last = rows[1].data(), *row = rows[2].data();
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = std::min(j, too_far);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const std::size_t from = i > limit ? i - limit : 1;
    const std::size_t to = std::min(b.size(), i + limit);
    row[from - 1] = from == 1 ? std::min(i, too_far) : too_far;
    std::size_t best = row[from - 1];
    for (std::size_t j = from; j <= to; ++j) {
      std::size_t steps = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      steps = std::min({steps, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        steps = std::min(steps, before[j - 2] + 1);
      }
      row[j] = std::min(steps, too_far);
      best = std::min(best, row[j]);
    }
    if (best > limit) return too_far;
    if (to < b.size()) row[to + 1] = too_far;  // the next row's band reaches one further
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t longest_word = 64;
  if (word.size() > longest_word) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 2) + 1;
  for (const auto candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate, best_distance - 1);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace stile
