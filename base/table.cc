// Table: rows with column titles, cut to the width of the terminal.
#include "base/table.h"

#include <algorithm>
#include <ostream>
#include <sstream>

#include "base/quoted.h"

namespace stile {
namespace {

constexpr std::size_t gap = 2;         // between columns
constexpr std::size_t least_cut = 10;  // a shorter piece of a word is useless
constexpr std::string_view mark = "…";

// All text here is ASCII, so one byte is one column on the screen.
std::string cut_to(const std::string& text, std::size_t width, Fit fit) {
  if (text.size() <= width) return text;
  if (fit == Fit::cut_end) return text.substr(0, width - 1).append(mark);
  return std::string{mark}.append(text.substr(text.size() - (width - 1)));
}

constexpr std::size_t hidden = static_cast<std::size_t>(-1);

std::size_t total(const std::vector<std::size_t>& widths) {
  std::size_t sum = 0;
  for (const std::size_t width : widths) {
    if (width != hidden) sum += width + (sum > 0 ? gap : 0);
  }
  return sum;
}

}  // namespace

Cell::Cell(std::string_view raw, Colour cell_colour) : text{printable(raw)}, colour{cell_colour} {}

std::vector<std::size_t> Table::natural_widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = columns_[i].title.size();
    for (const auto& row : rows_) width = std::max(width, row[i].text.size());
    widths.push_back(width);
  }
  return widths;
}

// Shrinks the widest column that may be cut, until all columns fit or none can shrink further.
void Table::shrink(std::vector<std::size_t>& widths, std::size_t limit) const {
  while (total(widths) > limit) {
    std::size_t widest = hidden;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool may_cut = widths[i] != hidden &&
                           (columns_[i].fit == Fit::cut_end || columns_[i].fit == Fit::cut_start);
      if (!may_cut || widths[i] <= least_cut) continue;
      if (widest == hidden || widths[i] > widths[widest]) widest = i;
    }
    if (widest == hidden) return;
    --widths[widest];
  }
}

std::vector<std::size_t> Table::fitting_widths(std::size_t limit) const {
  int highest = 0;
  for (const Column& column : columns_) highest = std::max(highest, column.rank);
  for (;; --highest) {
    auto widths = natural_widths();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (columns_[i].rank > highest) widths[i] = hidden;
    }
    if (limit == 0) return widths;
    shrink(widths, limit);
    if (total(widths) <= limit || highest == 0) return widths;
  }
}

void Table::print_row(std::ostream& out, const Terminal& terminal,
                      const std::vector<std::size_t>& widths, const std::vector<Cell>& row) const {
  std::string line;
  std::size_t owed = 0;  // blanks, written only if text follows
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (widths[i] == hidden) continue;
    if (row[i].text.empty()) {
      owed += widths[i] + gap;
      continue;
    }
    const auto shown = cut_to(row[i].text, widths[i], columns_[i].fit);
    const std::size_t padding = widths[i] - std::min(widths[i], row[i].text.size());
    const bool is_right = columns_[i].fit == Fit::number;
    line.append(owed + (is_right ? padding : 0), ' ');
    line += terminal.coloured(shown, row[i].colour);
    owed = gap + (is_right ? 0 : padding);
  }
  out << line << '\n';
}

void Table::print(std::ostream& out, const Terminal& terminal) const {
  const auto widths = fitting_widths(terminal.width);
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.emplace_back(column.title, Colour::bold);
  print_row(out, terminal, widths, titles);
  for (const auto& row : rows_) print_row(out, terminal, widths, row);
}

void Table::print_or(std::ostream& out, const Terminal& terminal,
                     std::string_view text_if_empty) const {
  if (is_empty()) {
    out << text_if_empty << '\n';
  } else {
    print(out, terminal);
  }
}

std::string Table::text() const {
  std::ostringstream out;
  print(out, Terminal{});
  return out.str();
}

}  // namespace stile
