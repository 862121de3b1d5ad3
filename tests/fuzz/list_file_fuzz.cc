// List files: any bytes are a list or are refused; every pattern reads back as it was read.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "config/list_file.h"
#include "tests/fuzz/check.h"

using namespace stile;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto rules = config::parse_list(text, "list");
  if (!rules) {
    STILE_FUZZ_CHECK(rules.error().has_errors());
    return 0;
  }
  std::string written;
  for (std::uint32_t i = 0; i < (*rules)->size(); ++i) {
    written += acl::RuleRef{rules->get(), i}.pattern() + '\n';
  }
  const auto again = config::parse_list(written, "list");
  STILE_FUZZ_CHECK(again && (*again)->size() == (*rules)->size());
  for (std::uint32_t i = 0; i < (*rules)->size(); ++i) {
    const acl::RuleRef before{rules->get(), i};
    const acl::RuleRef after{again->get(), i};
    STILE_FUZZ_CHECK(before.pattern() == after.pattern());
  }
  return 0;
}
