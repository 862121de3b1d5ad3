// Table: rows with column titles, cut to the width of the terminal.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "base/terminal.h"

namespace stile {

enum class Fit : std::uint8_t {
  whole,
  number,     // whole, at the right
  cut_end,    // "a long sente…"
  cut_start,  // "…ong.example.com": the end of a host shows its owner
};

struct Column {
  std::string title;
  Fit fit = Fit::whole;
  int rank = 0;  // a narrow terminal drops the highest rank first; 0 always stays
};

struct Cell {
  std::string text;
  Colour colour = Colour::none;
  // Escapes bytes that could control a terminal: agents chose much of the text that is shown.
  Cell(std::string_view raw, Colour cell_colour = Colour::none);
  Cell(const std::string& raw, Colour cell_colour = Colour::none)
      : Cell(std::string_view{raw}, cell_colour) {}
  Cell(const char* raw, Colour cell_colour = Colour::none)
      : Cell(std::string_view{raw}, cell_colour) {}
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_{std::move(columns)} {}

  // As many cells as there are columns.
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool is_empty() const noexcept { return rows_.empty(); }
  void print(std::ostream& out, const Terminal& terminal) const;
  void print_or(std::ostream& out, const Terminal& terminal, std::string_view text_if_empty) const;
  [[nodiscard]] std::string text() const;  // without colour, not cut

 private:
  [[nodiscard]] std::vector<std::size_t> natural_widths() const;
  void shrink(std::vector<std::size_t>& widths, std::size_t limit) const;
  [[nodiscard]] std::vector<std::size_t> fitting_widths(std::size_t limit) const;
  void print_row(std::ostream& out, const Terminal& terminal,
                 const std::vector<std::size_t>& widths, const std::vector<Cell>& row) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace stile
