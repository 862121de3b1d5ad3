// joined: texts with something between them.
#pragma once

#include <string>
#include <string_view>

namespace stile {

// `text_of` makes the text of an element.
template <class List, class TextOf>
[[nodiscard]] std::string joined_texts(const List& list, const TextOf& text_of,
                                       std::string_view between = ", ") {
  std::string out;
  for (const auto& element : list) {
    if (!out.empty()) out += between;
    out += text_of(element);
  }
  return out;
}

template <class List>
[[nodiscard]] std::string joined(const List& list, std::string_view between = ", ") {
  return joined_texts(
      list, [](const auto& text) -> std::string_view { return text; }, between);
}

}  // namespace stile
