// Node: the names of its types, for messages.
#include "config/node.h"

namespace stile::config {

std::string_view Node::type_name() const {
  struct Name {
    std::string_view operator()(const Unusable& other) const { return other.name; }
    std::string_view operator()(bool) const { return "a boolean"; }
    std::string_view operator()(std::int64_t) const { return "an integer"; }
    std::string_view operator()(double) const { return "a number with a fraction"; }
    std::string_view operator()(const std::string&) const { return "a string"; }
    std::string_view operator()(const Timestamp&) const { return "a date and time"; }
    std::string_view operator()(const Array&) const { return "a list"; }
    std::string_view operator()(const Table&) const { return "a table"; }
  };
  return std::visit(Name{}, value);
}

}  // namespace stile::config
