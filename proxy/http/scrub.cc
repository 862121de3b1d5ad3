// Scrubber: finds texts in a stream, however it is cut, and replaces them.
#include "proxy/http/scrub.h"

#include <algorithm>

#include "base/encoded_forms.h"
#include "base/wipe.h"

namespace stile::http {

Scrubber::~Scrubber() {
  for (Needle& needle : needles_) wipe(needle.text);
}

void Scrubber::add(std::string text, std::string replacement) {
  const bool is_known = std::any_of(needles_.begin(), needles_.end(),
                                    [&](const Needle& needle) { return needle.text == text; });
  if (!is_known && !text.empty()) {
    needles_.push_back({std::move(text), std::move(replacement)});
  } else {
    wipe(text);
  }
}

void Scrubber::add_secret(std::string_view value, std::string_view replacement) {
  for (std::string& form : encoded_forms(value)) {
    add(std::move(form), std::string{replacement});
    wipe(form);  // a short text was copied
  }
}

// Returns how many bytes were used: all before the end of the last text that was found. Each text
// is looked for once: an origin can fill its answers with one of them.
std::size_t Scrubber::replace(std::string_view bytes, std::string& out) const {
  std::vector<std::size_t> next(needles_.size());  // where each is
  for (std::size_t i = 0; i < next.size(); ++i) next[i] = bytes.find(needles_[i].text);
  std::size_t used = 0;
  for (;;) {
    std::size_t first = std::string_view::npos;
    const Needle* found = nullptr;
    for (std::size_t i = 0; i < next.size(); ++i) {
      const Needle& needle = needles_[i];
      if (next[i] < used) next[i] = bytes.find(needle.text, used);
      const bool is_better = next[i] < first || (next[i] == first && found != nullptr &&
                                                 needle.text.size() > found->text.size());
      if (next[i] != std::string_view::npos && is_better) {
        first = next[i];
        found = &needle;
      }
    }
    if (found == nullptr) return used;
    out.append(bytes.substr(used, first - used)).append(found->replacement);
    used = first + found->text.size();
  }
}

std::size_t Scrubber::begun_at_the_end_of(std::string_view bytes) const noexcept {
  std::size_t most = 0;
  for (const Needle& needle : needles_) {
    const std::size_t longest = std::min(needle.text.size() - 1, bytes.size());
    for (std::size_t size = longest; size > most; --size) {
      if (bytes.ends_with(std::string_view{needle.text}.substr(0, size))) most = size;
    }
  }
  return most;
}

void Scrubber::feed(std::string_view bytes, std::string& out) {
  std::string joined;
  if (!held_.empty()) {
    joined.swap(held_);
    bytes = joined += bytes;
  }
  bytes.remove_prefix(replace(bytes, out));
  const std::size_t begun = begun_at_the_end_of(bytes);
  out.append(bytes.substr(0, bytes.size() - begun));
  held_.assign(bytes.substr(bytes.size() - begun));
}

void Scrubber::finish(std::string& out) {
  out += held_;
  held_.clear();
}

std::string Scrubber::scrub(std::string_view text) const {
  std::string out;
  const std::size_t used = replace(text, out);
  out += text.substr(used);
  return out;
}

}  // namespace stile::http
