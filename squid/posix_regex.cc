// Expressions of squid.conf (POSIX extended) as RE2 reads them.
#include "squid/posix_regex.h"

#include "acl/regex_set.h"

namespace stile::squid {
namespace {

constexpr std::string_view digits = "0123456789";

class Checker {
 public:
  explicit Checker(std::string_view text) : text_{text} {}

  // What is wrong with it; empty: both languages read it alike.
  std::string run() {
    bool can_repeat = false;  // something stands before that a * could repeat
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\') {
        if (!skip_escape()) return "a backslash before a letter, a digit or < > ` '";
        can_repeat = true;
      } else if (c == '[') {
        if (!skip_brackets()) return "a bracket expression with a backslash, or without an end";
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

  // A backslash is itself in POSIX brackets and an escape in RE2's; only before a dot the two come
  // to the same, since no name has a backslash.
  bool skip_brackets() {
    ++at_;
    if (at_ < text_.size() && text_[at_] == '^') ++at_;
    if (at_ < text_.size() && text_[at_] == ']') ++at_;
    for (; at_ < text_.size() && text_[at_] != ']'; ++at_) {
      if (text_[at_] == '\\' && (at_ + 1 >= text_.size() || text_[at_ + 1] != '.')) return false;
      if (text_[at_] != '[' || at_ + 1 >= text_.size()) continue;
      const char kind = text_[at_ + 1];
      if (kind == '.' || kind == '=') return false;
      if (kind == ':') {
        at_ = text_.find(":]", at_ + 2);
        if (at_ == text_.npos) return false;
        ++at_;
      }
    }
    if (at_ >= text_.size()) return false;
    ++at_;
    return true;
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
  // By itself too: "a)|(b" must not become an expression by what stands around it.
  if (const std::string fault = acl::RegexSet::fault(text); !fault.empty()) {
    return Error{quoted + "is no expression: " + fault};
  }
  std::string whole = ".*(?:" + std::string{text} + ").*";
  if (ignore_case) whole.insert(0, "(?i)");
  if (const std::string fault = acl::RegexSet::fault(whole); !fault.empty()) {
    return Error{quoted + "is no expression: " + fault};
  }
  acl::Pattern pattern;
  pattern.kind = acl::Pattern::Kind::regex;
  pattern.name = std::move(whole);
  return pattern;
}

}  // namespace stile::squid
