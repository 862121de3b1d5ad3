// Diagnostics: all errors and warnings about the input, each with its place.
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

  // "file:line:column: key: problem; hint". Zero and empty parts are left out. A warning is marked
  // after its place, as compilers do and editors expect.
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

class Diagnostics {
 public:
  void error(Place place, std::string key, std::string problem, std::string hint = {});
  void warning(Place place, std::string key, std::string problem, std::string hint = {});
  // About a file as a whole; if the message begins with the file name, it is not repeated.
  void file_error(const std::string& file, std::string_view problem);
  void append(const Diagnostics& other);
  // Sorts by file (in order of first appearance), line and column: semantic checks find their
  // errors after the reader did, but people read from the top. Removes duplicates, such as errors
  // in a list that two agents name.
  void sort();

  [[nodiscard]] const std::vector<Diagnostic>& items() const noexcept { return items_; }
  [[nodiscard]] std::size_t error_count() const noexcept;
  [[nodiscard]] bool has_errors() const noexcept { return error_count() > 0; }
  [[nodiscard]] std::string text() const;  // one line each

 private:
  std::vector<Diagnostic> items_;
};

// "file: problem". If the problem begins with the name of the file, it is not repeated.
[[nodiscard]] std::string about_file(const std::string& file, std::string_view problem);

// A value, or all the reasons why there is no value.
template <class T>
using Checked = boost::system::result<T, Diagnostics>;

}  // namespace stile::config
