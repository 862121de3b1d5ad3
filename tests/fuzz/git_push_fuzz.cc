// Fuzzes the reader of push commands: pieces do not matter, and a refusal names only plain refs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/git_push.h"
#include "tests/fuzz/arrival.h"
#include "tests/fuzz/check.h"

namespace {

using stile::http::PushReader;

PushReader read(std::string_view input, std::size_t piece) {
  PushReader reader;
  for (std::size_t at = 0; at < input.size(); at += piece) {
    static_cast<void>(reader.feed(input.substr(at, piece)));
  }
  return reader;
}

bool same(const PushReader& a, const PushReader& b) {
  return a.state() == b.state() && a.wants_report() == b.wants_report() &&
         std::equal(a.commands().begin(), a.commands().end(), b.commands().begin(),
                    b.commands().end(), [](const auto& left, const auto& right) {
                      return left.ref == right.ref && left.is_deletion == right.is_deletion;
                    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  const PushReader whole = read(input, std::max<std::size_t>(size, 1));
  STILE_FUZZ_CHECK(same(read(input, 1 + stile::fuzz::number_of(input) % 7), whole));
  std::vector<stile::acl::RefPattern> allowed;
  allowed.push_back(*stile::acl::RefPattern::parse("refs/heads/agent/*"));
  const bool is_allowed = stile::acl::judge_push(allowed, whole.commands()).empty();
  for (const auto& command : whole.commands()) {
    if (!is_allowed) break;
    STILE_FUZZ_CHECK(command.ref.starts_with("refs/heads/agent/") && !command.is_deletion);
    STILE_FUZZ_CHECK(command.ref.find("..") == std::string::npos);
  }
  const std::string answer = stile::http::write_push_refusal(whole, "no", "why");
  STILE_FUZZ_CHECK(answer.ends_with("0000"));
  return 0;
}
