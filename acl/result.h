// Result<T>: a value, or an Error with a sentence for people.
#pragma once

#include <boost/system/result.hpp>
#include <string>

namespace stile {

struct Error {
  std::string message;  // for people; never parsed
};

template <class T>
using Result = boost::system::result<T, Error>;

}  // namespace stile
