// Scrubber: finds texts in a stream, however it is cut, and replaces them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stile::http {

class Scrubber {
 public:
  Scrubber() = default;
  ~Scrubber();  // wipes the texts
  Scrubber(const Scrubber&) = default;
  Scrubber& operator=(const Scrubber&) = delete;

  void add(std::string text, std::string replacement);
  // A secret as it is, in base64 at any offset (both alphabets), in hexadecimal and
  // percent-encoded.
  void add_secret(std::string_view value, std::string_view replacement);
  [[nodiscard]] bool is_empty() const noexcept { return needles_.empty(); }

  // Appends the bytes to `out`, replaced. The end of the bytes is held back only as far as it can
  // be the beginning of a text.
  void feed(std::string_view bytes, std::string& out);
  // The stream has ended: appends what is held back.
  void finish(std::string& out);

  // A whole text.
  [[nodiscard]] std::string scrub(std::string_view text) const;

 private:
  struct Needle {
    std::string text, replacement;
  };
  std::size_t replace(std::string_view bytes, std::string& out) const;
  [[nodiscard]] std::size_t begun_at_the_end_of(std::string_view bytes) const noexcept;

  std::vector<Needle> needles_;
  std::string held_;
};

}  // namespace stile::http
