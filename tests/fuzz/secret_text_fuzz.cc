// Fuzzes what `--secret` reads, and Base64 as in PEM files.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/base64.h"
#include "config/api_providers.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_secret(std::string_view text) {
  const auto secret = stile::config::parse_secret(text);
  if (!secret) {
    require(!secret.error().message.empty());
    return;
  }
  require(text.starts_with(secret->name + '='));
  require(!secret->file.empty() && !secret->header.empty() && !secret->agent_env.empty());
  require(secret->hosts.size() == 1);
  using Kind = stile::acl::Pattern::Kind;
  const Kind kind = secret->hosts[0].pattern.kind;
  require(kind == Kind::exact || kind == Kind::below);
}

void check_base64(std::string_view text) {
  require(stile::from_base64(stile::base64(text)) == text);
  if (const auto bytes = stile::from_base64(text)) {
    require(bytes->size() <= text.size() / 4 * 3);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  check_secret(text);
  check_base64(text);
  return 0;
}
