// Result<T>: a value, or an Error with a sentence for people.
#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <utility>

namespace stile {

struct Error {
  std::string message;  // for people; never parsed
};

template <class T>
using Result = boost::system::result<T, Error>;

// A Result with a text, made explicitly, since a string could also become an Error.
[[nodiscard]] inline Result<std::string> text_result(std::string text) {
  return Result<std::string>{boost::system::in_place_value, std::move(text)};
}

}  // namespace stile
