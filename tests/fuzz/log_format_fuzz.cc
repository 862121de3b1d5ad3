// logformat: the first line is the format, the rest is what an agent sends. Whatever both are, a
// record is one line, and the agent adds no blank to it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "audit/log_format.h"
#include "tests/fuzz/check.h"

namespace {

using namespace stile::audit;

std::string line_of(const LogFormat& format, std::string_view sent) {
  Record record;
  record.event = Event::deny;
  record.time_us = 1'794'819'600'000'000;
  record.agent = "alpha";
  record.src = "10.9.0.1:1000";
  record.method = record.host = record.path = record.sni = sent;
  record.scheme = "http";
  std::string line;
  format.append(line, record);
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view written = text.substr(0, end);
  // squid.conf refuses control bytes before a format gets here.
  if (std::any_of(written.begin(), written.end(), [](char c) { return c >= 0 && c < ' '; }))
    return 0;
  const auto format = LogFormat::compile(written);
  if (!format) {
    STILE_FUZZ_CHECK(!format.error().message.empty());
    return 0;
  }
  const std::string line = line_of(*format, text.substr(end));
  STILE_FUZZ_CHECK(line.ends_with('\n') && std::count(line.begin(), line.end(), '\n') == 1);
  STILE_FUZZ_CHECK(std::count(line.begin(), line.end(), '\r') == 0);
  return 0;
}
