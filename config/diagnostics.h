// Diagnostics: everything that is wrong or odd in what was read, each with its place.
#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"

namespace stile::config {

enum class Severity : std::uint8_t { error, warning };

struct Diagnostic {
  Severity severity = Severity::error;
  Place place;
  std::string key;      // "egress.ports"; empty: the file as a whole
  std::string problem;  // what is wrong
  std::string hint;     // what to do about it; may be empty

  // "file:line:column: key: problem; hint". What is 0 or empty is left out; a warning says so after
  // its place, as compilers do it and editors expect it.
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

class Diagnostics {
 public:
  void error(Place place, std::string key, std::string problem, std::string hint = {});
  void warning(Place place, std::string key, std::string problem, std::string hint = {});
  // About a file as a whole; a message that begins with its name does not say it twice.
  void file_error(const std::string& file, std::string_view problem);
  void append(const Diagnostics& other);
  // By file (in the order in which files first appear), line and column: semantic checks find
  // their errors after the reader did, but people read from the top. What was said twice (a bad
  // list that two agents name) is said once.
  void sort();

  [[nodiscard]] const std::vector<Diagnostic>& items() const noexcept { return items_; }
  [[nodiscard]] std::size_t error_count() const noexcept;
  [[nodiscard]] bool has_errors() const noexcept { return error_count() > 0; }
  [[nodiscard]] std::string text() const;  // one line each

 private:
  std::vector<Diagnostic> items_;
};

// A value, or all the reasons why there is none.
template <class T>
using Checked = boost::system::result<T, Diagnostics>;

// Text from a file as it may stand in a message: control bytes escaped, so that it cannot move the
// cursor of the terminal that shows it.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace stile::config
