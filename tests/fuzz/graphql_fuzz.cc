// Fuzzes the reader of GraphQL bodies: what passes has no second operation at its end.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/graphql.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  const bool passes = stile::http::fault_of_graphql(input).empty();
  if (!passes) return 0;
  STILE_FUZZ_CHECK(size <= stile::http::max_graphql_bytes);
  // A body is read to its end: nothing may follow.
  STILE_FUZZ_CHECK(!stile::http::fault_of_graphql(std::string{input} + "{}").empty());
  STILE_FUZZ_CHECK(!stile::http::fault_of_graphql("[" + std::string{input} + "]").empty());
  return 0;
}
