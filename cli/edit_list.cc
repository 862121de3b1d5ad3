// edit_list: finds the end of a list and writes after its last string.
#include "cli/edit_list.h"

#include <algorithm>

#include "base/joined.h"
#include "base/quoted.h"

namespace stile::cli {
namespace {

constexpr auto npos = std::string_view::npos;

Error not_understood(std::string_view what) { return Error{std::string{what}}; }

Result<std::string> edited_text(std::string text) {
  return Result<std::string>{boost::system::in_place_value, std::move(text)};
}

// The offset after the closing quote of the string that begins at `at`; npos: it is not closed, or
// it is of a kind that no pattern needs.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool is_triple = text.substr(at, 3) == std::string(3, quote);
  if (is_triple) return npos;
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\n') return npos;
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return npos;
}

// A list of strings, by offsets into the text.
struct ListPlace {
  std::size_t open = 0, close = 0;         // its brackets
  std::size_t first = npos, last_end = 0;  // its first string; after its last
  bool has_last_comma = false;
};

Result<ListPlace> find_list(std::string_view text, std::size_t key, ListSyntax syntax) {
  ListPlace list;
  list.open = text.find('[', key);
  if (list.open == npos) return not_understood("no list follows the key");
  for (std::size_t i = list.open + 1; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ']') {
      list.close = i;
      return list;
    }
    if (c == '"' || (c == '\'' && syntax == ListSyntax::toml)) {
      const auto end = end_of_string(text, i);
      if (end == npos) return not_understood("the list has a string of several lines");
      if (list.first == npos) list.first = i;
      list.last_end = end;
      list.has_last_comma = false;
      i = end - 1;
    } else if (c == ',') {
      list.has_last_comma = true;
    } else if (c == '#' && syntax == ListSyntax::toml) {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
      return not_understood("the list has more than strings in it");
    }
  }
  return not_understood("the list has no end");
}

std::size_t line_begin(std::string_view text, std::size_t at) {
  const auto newline = at == 0 ? npos : text.rfind('\n', at - 1);
  return newline == npos ? 0 : newline + 1;
}

std::size_t line_end(std::string_view text, std::size_t at) {  // its newline, or the end of text
  return std::min(text.find('\n', at), text.size());
}

std::string_view newline_of(std::string_view text) {
  return text.find("\r\n") == npos ? "\n" : "\r\n";
}

std::string_view indent_at(std::string_view text, std::size_t at) {
  const auto begin = line_begin(text, at);
  const auto word = text.find_first_not_of(" \t", begin);
  return text.substr(begin, std::min(word, at) - begin);
}

// A pattern has no control bytes.
std::string quoted_list(const std::vector<std::string>& words) {
  return joined_texts(words, quoted_literal);
}

// One string per line, in the style of the list: a trailing comma only if there was one.
std::string add_lines(std::string text, const ListPlace& list,
                      const std::vector<std::string>& words) {
  const std::string indent{indent_at(text, list.first)};
  const std::string newline{newline_of(text)};
  std::string added;
  for (const auto& word : words) {
    const bool is_last = &word == &words.back();
    added += newline + indent + quoted_literal(word) + (is_last && !list.has_last_comma ? "" : ",");
  }
  // After anything else on the line of the last string: its comma, a comment.
  auto at = line_end(text, list.last_end);
  if (at > 0 && text[at - 1] == '\r') --at;
  text.insert(at, added);
  if (!list.has_last_comma) text.insert(list.last_end, ",");
  return text;
}

}  // namespace

Result<std::string> add_to_list(std::string_view text, std::size_t key,
                                const std::vector<std::string>& words, ListSyntax syntax) {
  const auto list = find_list(text, key, syntax);
  if (!list) return list.error();
  std::string out{text};
  if (list->first == npos) {
    out.insert(list->open + 1, quoted_list(words));
    return edited_text(std::move(out));
  }
  const auto last_line = line_end(text, list->last_end);
  const bool is_spread =
      line_begin(text, list->first) != line_begin(text, list->open) && last_line < list->close;
  if (is_spread) return edited_text(add_lines(std::move(out), *list, words));
  const bool has_comment =
      text.substr(list->last_end, list->close - list->last_end).find('\n') != npos;
  if (has_comment) return not_understood("the list ends on another line than its last word");
  out.insert(list->last_end, ", " + quoted_list(words));
  return edited_text(std::move(out));
}

Result<std::string> add_new_list(std::string_view text, std::size_t key, std::string_view name,
                                 const std::vector<std::string>& words, ListSyntax syntax) {
  std::string out{text};
  if (syntax == ListSyntax::json) {
    const auto open = text.find('{');
    if (open == npos) return not_understood("the card is not a JSON object");
    out.insert(open + 1, quoted_literal(std::string{name}) + ": [" + quoted_list(words) + "], ");
    return edited_text(std::move(out));
  }
  const auto begin = line_begin(text, key);
  const auto before = text.substr(begin, key - begin);
  if (before.find_first_not_of(" \t") != npos) {
    return not_understood("the agent is not written as an [[agent]] of one key a line");
  }
  auto at = line_end(text, key);
  if (at > 0 && text[at - 1] == '\r') --at;
  out.insert(at, std::string{newline_of(text)}.append(before).append(name).append(" = [") +
                     quoted_list(words) + ']');
  return edited_text(std::move(out));
}

std::size_t offset_of(std::string_view text, std::size_t line, std::size_t column) {
  std::size_t at = 0;
  for (; line > 1 && at < text.size(); --line) at = std::min(line_end(text, at) + 1, text.size());
  return std::min(at + (column > 0 ? column - 1 : 0), text.size());
}

std::string line_diff(const std::string& name, std::string_view before, std::string_view after) {
  const auto lines_of = [](std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
      const auto end = line_end(text, 0);
      lines.push_back(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
  };
  const auto old_lines = lines_of(before), new_lines = lines_of(after);
  const auto least = std::min(old_lines.size(), new_lines.size());
  std::size_t head = 0, tail = 0;
  while (head < least && old_lines[head] == new_lines[head]) ++head;
  while (tail < least - head &&
         old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail]) {
    ++tail;
  }
  if (head == old_lines.size() && head == new_lines.size()) return {};
  std::string out =
      "--- " + name + "\n+++ " + name + "\n@@ line " + std::to_string(head + 1) + " @@\n";
  const auto add = [&](char sign, std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    ((out += sign) += line) += '\n';
  };
  if (head > 0) add(' ', old_lines[head - 1]);
  for (std::size_t i = head; i < old_lines.size() - tail; ++i) add('-', old_lines[i]);
  for (std::size_t i = head; i < new_lines.size() - tail; ++i) add('+', new_lines[i]);
  if (tail > 0) add(' ', old_lines[old_lines.size() - tail]);
  return out;
}

}  // namespace stile::cli
