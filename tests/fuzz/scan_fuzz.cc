// Fuzzes the search for keys: the work stays within its bound, and a piece more or less hides
// nothing that stands there as it is.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "scan/search.h"
#include "tests/fuzz/arrival.h"
#include "tests/fuzz/check.h"

namespace {

using namespace stile::scan;

std::shared_ptr<const Texts> texts() {
  static const auto made = [] {
    auto secret = std::make_shared<stile::acl::Secret>();
    secret->value = std::make_shared<stile::acl::SecretValue>();
    secret->value->set("a-secret-value", 1);
    auto rules = ScanRules::compile({{"tokens", "", ScanAction::refuse},
                                     {"private-keys", "", ScanAction::refuse},
                                     {"payment", "", ScanAction::refuse},
                                     {"wallets", "", ScanAction::refuse},
                                     {"own", "(?i)top secret", ScanAction::log}});
    const Watch watch{*rules, {secret}, {"a-placeholder"}};
    return watch.texts();
  }();
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  Search whole{texts()};
  whole.feed(input, Search::More::no);
  const bool is_compressed = input.starts_with("\x1f\x8b\x08");
  // Compressed data has a bound of its own, see search.cc.
  constexpr std::uint64_t in_gzip = std::uint64_t{40} << 20U;
  STILE_FUZZ_CHECK(whole.work() <= 32 * (size + 16) + in_gzip);
  Search pieces{texts(), is_compressed ? Search::Of::gzip_body : Search::Of::body};
  const std::size_t piece = 1 + stile::fuzz::number_of(input) % 4096;
  for (std::size_t at = 0; at < size; at += piece) pieces.feed(input.substr(at, piece));
  const Found plain = bit_of(secrets_number) | bit_of(placeholders_number);
  if (input.find("a-secret-value") != std::string_view::npos) {
    STILE_FUZZ_CHECK((whole.found() & plain) != 0 && (pieces.found() & plain) != 0);
  }
  return 0;
}
