// Translates regexes of squid.conf (POSIX extended) to RE2.
#include "squid/posix_regex.h"

#include <algorithm>

#include "acl/regex_set.h"

namespace stile::squid {
namespace {

constexpr std::string_view digits = "0123456789";

class Checker {
 public:
  explicit Checker(std::string_view text) : text_{text} {}

  // The part that the two languages read differently; empty: none.
  std::string run() {
    bool can_repeat = false;  // there is an item before that a * could repeat
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\') {
        if (!skip_escape()) return "a backslash before a letter, a digit or < > ` '";
        can_repeat = true;
      } else if (c == '[') {
        if (!skip_brackets())
          return "a bracket expression with a backslash, an odd range, or without an end";
        can_repeat = true;
      } else if (c == '*' || c == '+' || c == '?' || c == '{') {
        if (!can_repeat) return "a repetition of nothing, or of a repetition";
        if (!skip_repetition()) return "a brace that is no {n}, {n,} or {n,m}";
        can_repeat = false;
      } else {
        can_repeat = c != '(' && c != '|' && c != '^' && c != '$';
        ++at_;
      }
    }
    return {};
  }

 private:
  bool skip_escape() {
    constexpr std::string_view punctuation = ".-+*?()[]{}|^$\\/";
    if (at_ + 1 >= text_.size() || punctuation.find(text_[at_ + 1]) == text_.npos) return false;
    at_ += 2;
    return true;
  }

  bool skip_brackets() {
    ++at_;
    if (at_ < text_.size() && text_[at_] == '^') ++at_;
    for (bool first = true; at_ < text_.size(); first = false) {
      if (text_[at_] == ']' && !first) {
        ++at_;
        return true;
      }
      if (!skip_element(first)) return false;
    }
    return false;
  }

  // One class, range or byte between brackets.
  bool skip_element(bool is_first) {
    const char c = text_[at_];
    if (c == '[' && at_ + 1 < text_.size() && text_[at_ + 1] == ':') {
      at_ = std::min(text_.find(":]", at_ + 2), text_.size() - 2) + 2;
      return !is_hyphen(at_) || is_end(at_ + 1);
    }
    if (c == '[' && at_ + 1 < text_.size() && (text_[at_ + 1] == '.' || text_[at_ + 1] == '=')) {
      return false;
    }
    // A hyphen is literal at either end. Elsewhere POSIX refuses the expression, and squid then
    // ignores it, while RE2 accepts it.
    if (c == '-' && !is_first && !is_end(at_ + 1)) return false;
    if (!is_hyphen(at_ + 1) || is_end(at_ + 2)) {
      // A backslash is literal in POSIX brackets and an escape in RE2's. Only before a dot both
      // have the same effect, since no name contains a backslash.
      if (c == '\\' && (at_ + 1 >= text_.size() || text_[at_ + 1] != '.')) return false;
      ++at_;
      return true;
    }
    // For other ends, the two differ on the range between them when case is ignored.
    if (at_ + 2 >= text_.size() || !are_alike(c, text_[at_ + 2])) return false;
    at_ += 3;
    return true;
  }

  [[nodiscard]] bool is_hyphen(std::size_t at) const {
    return at < text_.size() && text_[at] == '-';
  }
  [[nodiscard]] bool is_end(std::size_t at) const { return at < text_.size() && text_[at] == ']'; }
  // Two digits, or two letters of one case.
  static bool are_alike(char first, char last) {
    const auto both_in = [&](char low, char high) {
      return low <= first && first <= high && low <= last && last <= high;
    };
    return both_in('0', '9') || both_in('a', 'z') || both_in('A', 'Z');
  }

  bool skip_repetition() {
    if (text_[at_] != '{') {
      ++at_;
      return true;
    }
    const std::size_t end = text_.find('}', at_);
    if (end == text_.npos) return false;
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    if (inside.find_first_not_of("0123456789,") != inside.npos || inside.empty() ||
        digits.find(inside.front()) == digits.npos || inside.find(',') != inside.rfind(',')) {
      return false;
    }
    at_ = end + 1;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<acl::Pattern> translate_regex(std::string_view text, bool ignore_case) {
  const std::string quoted = "'" + std::string{text} + "' ";
  if (text.size() > acl::Pattern::max_regex_length - 16) return Error{quoted + "is too long"};
  if (const std::string problem = Checker{text}.run(); !problem.empty()) {
    return Error{quoted + "has " + problem + ", which squid and Stile would read differently"};
  }
  // Checks the text alone too: "a)|(b" must not become valid inside the parentheses added below.
  if (const std::string fault = acl::RegexSet::fault(text); !fault.empty()) {
    return Error{quoted + "is not a valid expression: " + fault};
  }
  std::string whole = ".*(?:" + std::string{text} + ").*";
  if (ignore_case) whole.insert(0, "(?i)");
  if (const std::string fault = acl::RegexSet::fault(whole); !fault.empty()) {
    return Error{quoted + "is not a valid expression: " + fault};
  }
  acl::Pattern pattern;
  pattern.kind = acl::Pattern::Kind::regex;
  pattern.name = std::move(whole);
  return pattern;
}

}  // namespace stile::squid
