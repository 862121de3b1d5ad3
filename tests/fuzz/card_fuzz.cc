// Agent cards: any bytes are a card or are refused with a reason; a card makes a policy.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "config/card.h"
#include "config/compile.h"
#include "config/cross_checks.h"
#include "tests/fuzz/check.h"

using namespace stile::config;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  auto agent = parse_card(text, {"card.json", 1'794'819'600'000'000, std::nullopt});
  if (!agent) {
    STILE_FUZZ_CHECK(agent.error().has_errors() && !agent.error().text().empty());
    return 0;
  }
  STILE_FUZZ_CHECK(!agent->id.empty() && agent->id == card_id(text));
  agent->allow_files.clear();  // no file is opened here
  agent->deny_files.clear();
  agent->can.clear();
  Diagnostics problems;
  check_agent(*agent, NetnsSettings{}, problems);
  SharedParts shared{{}, {}, {}, ListFileCache{0}, {}, CapabilityFiles{0}, {}, {}, {}};
  const auto policy = compile_agent(*agent, shared);
  STILE_FUZZ_CHECK(!policy || (*policy)->id == agent->id);
  return 0;
}
