// Fuzzes the reader of rtnetlink messages with datagrams whose sequence number is 1.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "proxy/server/rtnetlink.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using State = stile::server::DumpPart::State;
  const std::vector<std::uint8_t> copy(data, data + size);
  const auto bytes = std::as_bytes(std::span{copy});
  std::vector<stile::acl::Prefix> prefixes;
  const auto part = stile::server::read_dump(bytes, 1, prefixes);
  STILE_FUZZ_CHECK((part.state == State::failed) == (part.error != 0));
  STILE_FUZZ_CHECK(prefixes.size() <= size / 16);
  for (const auto& prefix : prefixes) {
    STILE_FUZZ_CHECK(prefix.length <= (prefix.address.is_v4() ? 32 : 128));
    const auto again = stile::acl::Prefix::parse(prefix.text());  // host bits would be an error
    STILE_FUZZ_CHECK(again && *again == prefix);
  }
  if (!prefixes.empty()) STILE_FUZZ_CHECK(stile::server::concerns_addresses(bytes));
  return 0;
}
