// Requests to the spawner: any bytes are a request or are refused with a reason; its end does not
// depend on how it arrives.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ascii.h"
#include "spawn/request.h"
#include "tests/fuzz/check.h"
#include "worker/request.h"

using namespace stile;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto end = spawn::request_end(text);
  STILE_FUZZ_CHECK(!end || (*end > 0 && *end <= size));
  if (end) {
    STILE_FUZZ_CHECK(spawn::request_end(text.substr(0, *end)) == end);
    STILE_FUZZ_CHECK(!spawn::request_end(text.substr(0, *end - 1)));
  }
  const auto request = spawn::parse_request(text.substr(0, end.value_or(size)));
  if (!request) {
    STILE_FUZZ_CHECK(!request.error().message.empty());
  } else {
    STILE_FUZZ_CHECK(request->action == spawn::SpawnAction::list || is_plain_id(request->task_id));
  }
  const auto inner = worker::parse_request(text);
  if (inner) {
    const auto again = worker::parse_request(worker::request_text(*inner));
    STILE_FUZZ_CHECK(again && again->message == inner->message && again->run == inner->run);
  }
  return 0;
}
