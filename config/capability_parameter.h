// The parameters of capabilities: what they can be, so that none makes a path or a host wider.
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stile::config {

enum class ParameterForm : std::uint8_t {
  repository,  // acme/app; acme/* is all of one owner
  location,    // github.com/acme/app: {host} and {path}
  image,       // library/alpine
  model,       // acme/model, or one word
  name,        // one word
  refs,        // one ref or more, the last parameter: in a list, "{refs}" stands for all
};

struct ParameterFacts {
  ParameterForm form;
  std::string_view name;        // in files
  std::string_view for_people;  // "OWNER/NAME"
  std::string_view sample;      // a valid value
};
[[nodiscard]] const ParameterFacts& facts_of(ParameterForm form) noexcept;
[[nodiscard]] std::optional<ParameterForm> form_named(std::string_view name) noexcept;

// By the name that stands in {}.
using ParameterValues = std::map<std::string, std::string>;

// Checks one parameter and adds its value. Several refs are joined by a space.
[[nodiscard]] Result<void> set_parameter(ParameterForm form, std::string_view text,
                                         ParameterValues& values);

// The parts between separators, with the empty ones.
[[nodiscard]] std::vector<std::string_view> split_words(std::string_view text, char separator);

}  // namespace stile::config
