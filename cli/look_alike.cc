// look_alike: compares registered names, not the names of hosts below them.
#include "cli/look_alike.h"

#include <algorithm>
#include <numeric>

#include "acl/pattern.h"
#include "cli/suffixes.h"

namespace stile::cli {
namespace {

constexpr std::size_t short_label = 4;  // shorter names are all similar
constexpr std::size_t long_label = 9;   // from this length, two typing errors still look alike

// The number of insertions, deletions, replacements and swaps of neighbours from `a` to `b`.
std::size_t typing_errors(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last.back();
}

// Maps what looks alike to one form: 0 and o, 1, l and i, rn and m, vv and w; drops hyphens.
std::string shape_of(std::string_view label) {
  std::string shape;
  for (std::size_t i = 0; i < label.size(); ++i) {
    const auto pair = label.substr(i, 2);
    if (pair == "rn" || pair == "vv") {
      shape += pair == "rn" ? 'm' : 'w';
      ++i;
    } else if (label[i] == '0') {
      shape += 'o';
    } else if (label[i] == '1' || label[i] == 'i') {
      shape += 'l';
    } else if (label[i] == '5') {
      shape += 's';
    } else if (label[i] != '-') {
      shape += label[i];
    }
  }
  return shape;
}

bool are_alike(std::string_view host, std::string_view allowed) {
  const bool has_owner = allowed.find('.') != std::string_view::npos;
  if (has_owner && host.size() > allowed.size() && host.starts_with(allowed) &&
      host[allowed.size()] == '.') {
    return true;
  }
  const auto theirs = registered_name(std::string{host});
  const auto ours = registered_name(std::string{allowed});
  if (theirs.empty() || ours.empty() || theirs == ours) return false;
  const auto label = theirs.substr(0, theirs.find('.'));
  const auto known = ours.substr(0, ours.find('.'));
  const auto length = std::min(label.size(), known.size());
  if (length < short_label) return false;
  return shape_of(label) == shape_of(known) ||
         typing_errors(label, known) <= (length >= long_label ? 2U : 1U);
}

}  // namespace

std::string look_alike(std::string_view host, const std::vector<std::string>& allowed) {
  for (const auto& text : allowed) {
    const auto pattern = acl::Pattern::parse(text);
    if (!pattern || pattern->kind == acl::Pattern::Kind::any ||
        pattern->kind == acl::Pattern::Kind::regex) {
      continue;
    }
    if (are_alike(host, pattern->name)) return std::string{pattern->name};
  }
  return {};
}

}  // namespace stile::cli
