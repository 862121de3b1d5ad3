// GraphQL over HTTP: whether the body of a POST is one query and nothing that writes. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace stile::http {

inline constexpr std::size_t max_graphql_bytes = 64 * 1024;

// Empty: the JSON has `query`, perhaps `variables` and `operationName`, and the document in `query`
// is exactly one operation of the kind query, with its fragments. Else what is wrong, for people.
// What two servers could read differently is refused.
[[nodiscard]] std::string_view fault_of_graphql(std::string_view body);

}  // namespace stile::http
