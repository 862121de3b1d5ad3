// Control requests and state files: any bytes are understood as a whole or refused with a reason.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "control/request.h"
#include "control/saved_state.h"
#include "proxy/commands/actions.h"
#include "tests/fuzz/check.h"

using namespace stile::control;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto request = parse_request(text, stile::commands::actions());
  if (!request) {
    STILE_FUZZ_CHECK(!request.error().message.empty());
  } else {
    STILE_FUZZ_CHECK(request->hosts.size() <= ControlRequest::max_hosts);
    STILE_FUZZ_CHECK(request->reason.size() <= ControlRequest::max_reason_bytes);
    // A card went through this parser once: its text is JSON that it takes again.
    if (!request->card.empty()) {
      const std::string again = R"({"action":"put-agent","card":)" + request->card + "}";
      const auto second = parse_request(again, stile::commands::actions());
      STILE_FUZZ_CHECK(again.size() > max_request_bytes ||
                       (second && second->card == request->card));
    }
  }
  // What was read of a state is written so that it reads the same.
  if (const auto state = parse_state(text, "state.json")) {
    const auto written = state_text(*state);
    const auto again = parse_state(written, "state.json");
    STILE_FUZZ_CHECK(again && state_text(*again) == written);
  }
  return 0;
}
