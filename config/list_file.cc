// List files: one pattern per line.
#include "config/list_file.h"

#include <algorithm>
#include <utility>

namespace stile::config {
namespace {

constexpr std::size_t max_bad_lines = 20;

constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }

// The pattern of a line without comment and surrounding blanks; empty: none. A `#` inside a word is
// kept and makes the pattern invalid: the meaning of `a#b` is unclear.
std::string_view pattern_of(std::string_view line) noexcept {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  for (auto hash = line.find('#'); hash != std::string_view::npos;
       hash = line.find('#', hash + 1)) {
    if (hash == 0 || is_blank(line[hash - 1])) line = line.substr(0, hash);
  }
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

}  // namespace

Checked<std::shared_ptr<const acl::RuleSet>> parse_list(std::string_view text,
                                                        const std::string& file) {
  Diagnostics problems;
  acl::RuleSet::Builder rules{file};
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  rules.reserve(lines, text.size());
  std::uint32_t number = 0;
  while (!text.empty()) {
    ++number;
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto pattern = pattern_of(line);
    if (pattern.empty()) continue;
    const auto added = rules.add_text(pattern, number);
    if (added) continue;
    if (problems.error_count() == max_bad_lines) {
      problems.error({file, number, 1}, "", "and perhaps more: reading ends here");
      break;
    }
    const auto column = static_cast<std::uint32_t>(pattern.data() - line.data()) + 1;
    problems.error({file, number, column}, "", added.error().message);
  }
  if (problems.has_errors()) return problems;
  return std::move(rules).build();
}

}  // namespace stile::config
