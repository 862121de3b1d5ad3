// GraphQL over HTTP: whether the body of a POST is one query and nothing that writes.
#include "proxy/http/graphql.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "base/contains.h"

namespace stile::http {
namespace {

constexpr std::size_t max_depth = 64;

bool is_letter(char c) { return (to_lower(c) >= 'a' && to_lower(c) <= 'z') || c == '_'; }

// A strict reader of JSON (RFC 8259) that keeps only what is asked for.
class Json {
 public:
  explicit Json(std::string_view text) : text_{text} {}

  // An object at the top: calls member(name) at each value, which reads it.
  template <class Member>
  bool object(Member member) {
    skip_space();
    if (!take('{')) return false;
    skip_space();
    if (take('}')) return ends();
    for (;;) {
      std::string name;
      skip_space();
      if (!string(name)) return false;
      skip_space();
      if (!take(':')) return false;
      skip_space();
      if (!member(name)) return false;
      skip_space();
      if (take('}')) return ends();
      if (!take(',')) return false;
    }
  }

  // What is not ASCII becomes `?`: it has no meaning outside of strings and comments.
  bool string(std::string& out) {
    if (!take('"')) return false;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') {
        out += static_cast<unsigned char>(c) < 0x80 ? c : '?';
      } else if (!escape(out)) {
        return false;
      }
    }
    return false;
  }

  // Any value, which is not kept.
  bool skip_value() {
    std::vector<char> open;
    do {
      skip_space();
      if (at_ >= text_.size()) return false;
      const char c = text_[at_];
      std::string ignored;
      if (c == '{' || c == '[') {
        ++at_;
        if (open.size() == max_depth) return false;
        open.push_back(c == '{' ? '}' : ']');
        skip_space();
        if (at_ < text_.size() && text_[at_] == open.back()) {
          ++at_;
          open.pop_back();
        } else {
          if (c == '{' && !name()) return false;
          continue;
        }
      } else if (c == '"') {
        if (!string(ignored)) return false;
      } else if (!word()) {
        return false;
      }
      if (!after_value(open)) return false;
    } while (!open.empty());
    return true;
  }

 private:
  // Closes what ends here, or goes on to the next value.
  bool after_value(std::vector<char>& open) {
    while (!open.empty()) {
      skip_space();
      if (take(open.back())) {
        open.pop_back();
        continue;
      }
      if (!take(',')) return false;
      return open.back() == ']' || name();
    }
    return true;
  }

  bool name() {
    std::string ignored;
    skip_space();
    if (!string(ignored)) return false;
    skip_space();
    return take(':');
  }

  // A number, true, false or null. Its exact form does not matter here.
  bool word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) ||
                                  text_[at_] == '-' || text_[at_] == '+' || text_[at_] == '.')) {
      ++at_;
    }
    return at_ > begin;
  }

  bool escape(std::string& out) {
    if (at_ >= text_.size()) return false;
    const char c = text_[at_++];
    constexpr std::string_view names = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (const std::size_t found = names.find(c); found != std::string_view::npos) {
      out += meanings[found];
      return true;
    }
    if (c != 'u' || at_ + 4 > text_.size()) return false;
    int value = 0;
    for (int i = 0; i < 4; ++i) {
      const int digit = hex_value(text_[at_++]);
      if (digit < 0) return false;
      value = value * 16 + digit;
    }
    out += value < 0x80 ? static_cast<char>(value) : '?';
    return true;
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (at_ < text_.size() &&
           std::string_view{" \t\r\n"}.find(text_[at_]) != std::string::npos) {
      ++at_;
    }
  }
  bool ends() {
    skip_space();
    return at_ == text_.size();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// The tokens of a document that decide what it does (GraphQL, section 2.1).
class Document {
 public:
  explicit Document(std::string_view text) : text_{text} {}

  std::string_view fault() {
    constexpr std::string_view malformed = "the document is not valid GraphQL";
    std::size_t operations = 0;
    while (skip_ignored()) {
      const std::string_view word = name();
      if (word == "mutation") return "it is a mutation";
      if (word == "subscription") return "it is a subscription";
      if (word != "query" && word != "fragment" && !(word.empty() && text_[at_] == '{')) {
        return word.empty() ? malformed : "it defines something other than a query";
      }
      if (word != "fragment" && ++operations > 1) return "it has more than one operation";
      if (!skip_definition()) return malformed;
    }
    if (at_ < text_.size()) return malformed;
    return operations == 1 ? "" : "it has no operation";
  }

 private:
  // Up to the end of its selection set: the first braces that are not inside of others.
  bool skip_definition() {
    std::vector<char> open;
    while (skip_ignored()) {
      const char c = text_[at_];
      if (c == '"') {
        if (!skip_string()) return false;
        continue;
      }
      if (!name().empty()) continue;
      ++at_;
      if (c == '{' || c == '(' || c == '[') {
        if (open.size() == max_depth) return false;
        open.push_back(c == '{' ? '}' : c == '(' ? ')' : ']');
      } else if (c == '}' || c == ')' || c == ']') {
        if (open.empty() || open.back() != c) return false;
        open.pop_back();
        if (open.empty() && c == '}') return true;
      } else if (std::string_view{"!$&.:=@|-+0123456789"}.find(c) == std::string_view::npos) {
        return false;
      }
    }
    return false;
  }

  // False: the document ends here, or with something that is not a token.
  bool skip_ignored() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
      } else if (std::string_view{" \t\r\n,"}.find(c) != std::string_view::npos) {
        ++at_;
      } else {
        return true;
      }
    }
    return false;
  }

  std::string_view name() {
    const std::size_t begin = at_;
    if (at_ < text_.size() && is_letter(text_[at_])) {
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  bool skip_string() {
    constexpr std::string_view block = R"(""")";
    if (text_.substr(at_).starts_with(block)) {
      at_ += block.size();
      for (;;) {
        at_ = text_.find(block, at_);
        if (at_ == std::string_view::npos) {
          at_ = text_.size();
          return false;
        }
        const bool is_escaped = text_[at_ - 1] == '\\';
        at_ += block.size();
        if (!is_escaped) return true;
      }
    }
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\r' || c == '\n') return false;
      if (c == '\\') {
        ++at_;
      } else if (c == '"') {
        ++at_;
        return true;
      }
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Servers differ in where a comment or a string ends. So the words that make an operation write may
// stand nowhere, not even there: whatever a server takes for code, it finds no such operation.
std::string_view fault_of_text(std::string_view text) {
  constexpr std::string_view texts_elsewhere =
      "it contains the word mutation or subscription (put texts into variables)";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\r' && !text.substr(i + 1).starts_with('\n')) return "it has a \\r without a \\n";
    if (static_cast<unsigned char>(c) < ' ' && c != '\r' && c != '\n' && c != '\t') {
      return "it has a control character";
    }
  }
  for (const std::string_view word : {"mutation", "subscription"}) {
    const auto is_part = [&](std::size_t at) {
      return at < text.size() && (is_letter(text[at]) || is_digit(text[at]));
    };
    for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
      if (!(at > 0 && is_part(at - 1)) && !is_part(at + word.size())) return texts_elsewhere;
    }
  }
  return {};
}

}  // namespace

std::string_view fault_of_graphql(std::string_view body) {
  if (body.size() > max_graphql_bytes) return "it is larger than 64 KiB";
  Json json{body};
  std::string query, ignored;
  bool has_query = false;
  std::vector<std::string> seen;
  std::string_view fault;
  const bool is_json = json.object([&](const std::string& name) {
    if (contains(seen, name)) {
      fault = "duplicate key";
      return false;
    }
    seen.push_back(name);
    if (name == "query") {
      has_query = true;
      return json.string(query);
    }
    if (name == "variables" || name == "operationName") return json.skip_value();
    fault = "it has keys other than query, variables and operationName";
    return false;
  });
  if (!fault.empty()) return fault;
  if (!is_json) return "the body is not a JSON object with a query";
  if (!has_query) return "the body has no query";
  if (const auto in_code = Document{query}.fault(); !in_code.empty()) return in_code;
  return fault_of_text(query);
}

}  // namespace stile::http
