// stile.toml: any bytes are settings or are refused; settings read back as they were written.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "config/compile.h"
#include "tests/config/written_settings.h"
#include "tests/fuzz/check.h"

using namespace stile::config;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto settings = parse_settings(text, "/etc/stile/stile.toml");
  if (!settings) {
    STILE_FUZZ_CHECK(settings.error().has_errors() && !settings.error().text().empty());
    return 0;
  }
  const auto written = written_settings(*settings);
  const auto again = parse_settings(written, "/etc/stile/stile.toml");
  STILE_FUZZ_CHECK(again && written_settings(*again) == written);

  SharedParts shared{"stile.toml",
                     settings->egress,
                     settings->limits,
                     ListFileCache{0},
                     Secrets{settings->secret},
                     CapabilityFiles{0},
                     Scans{settings->scan},
                     {},
                     {}};
  for (auto agent : settings->agent) {
    agent.allow_files.clear();  // no file is opened here
    agent.deny_files.clear();
    agent.can.clear();
    const auto policy = compile_agent(agent, shared);
    STILE_FUZZ_CHECK(!policy || (*policy)->id == agent.id);
  }
  return 0;
}
