// squid.conf: any bytes are a config or are refused with a place; what was taken can be asked.
#include <cstddef>
#include <cstdint>
#include <string>

#include "acl/decide.h"
#include "squid/compile.h"
#include "squid/conf.h"
#include "tests/fuzz/check.h"

using namespace stile;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{reinterpret_cast<const char*>(data), size};
  squid::Files files;
  // Every name but one is the same file, so that includes and lists are met too; a file that
  // includes itself again and again would say nothing new.
  int reads = 0;
  files.read = [&](const std::string& path) -> Result<std::string> {
    if (path == "none" || ++reads > 4) return Error{"none: there is no such file"};
    return text_result(text);
  };
  files.glob = [](const std::string& pattern) { return std::vector<std::string>{pattern}; };
  auto conf = squid::parse("squid.conf", files);
  if (!conf) {
    STILE_FUZZ_CHECK(conf.error().has_errors());
    return 0;
  }
  const auto compiled = squid::compile(std::move(*conf), {});
  if (!compiled) return 0;
  for (const char* target : {"www.example.com:443", "api7.test:80", "192.0.2.1:443"}) {
    acl::Query query;
    query.agent = compiled->policy.get();
    query.authority = acl::split_authority(target);
    query.source = acl::Address::v4(0x7f000001);
    query.method = "CONNECT";
    const acl::Decision first = acl::decide(query);
    const std::vector<acl::Address> addresses{acl::Address::v4(0x08080808)};
    query.addresses = &addresses;
    const acl::Decision second = acl::decide(query);
    STILE_FUZZ_CHECK(!second.awaits_addresses);
    // What is refused without the addresses is refused with them.
    STILE_FUZZ_CHECK(first.passes() || !second.passes());
  }
  return 0;
}
