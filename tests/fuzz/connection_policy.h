// The policies that a fuzzed connection meets, and what each of them lets through, said twice.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "acl/policy.h"
#include "proxy/dns/hosts_file.h"

namespace stile::fuzz {

enum class Stage : std::uint8_t {
  all,
  without_b,
  nothing,
  offline,
  observe,
  agent_gone,
  count,  // those that the fuzzer plays; the rest is for unit tests
  searching,
  searching_more
};
// What no request may carry under `searching`, and what beside it under `searching_more`.
inline constexpr std::string_view never_out = "first-marker", never_out_later = "second-marker";

// Names of the simulated Internet. "inside.test" is allowed by name and has a private address.
inline constexpr std::string_view hosts_text =
    "1.2.3.4 a.test\n1.2.3.5 b.test\n1.2.3.6 evil.test\n10.0.0.1 inside.test\n";
// "c.test" is known to the DNS server only, see DnsAnswer.
inline constexpr std::string_view dns_text = "1.2.3.7 c.test\n2600::7 c.test\n";
[[nodiscard]] std::string_view host_of(const acl::Address& address);

[[nodiscard]] std::shared_ptr<const acl::Snapshot> snapshot_of(
    Stage stage, std::uint64_t generation, const std::shared_ptr<acl::Account>& account);
// Names of the fields that no request may bring to an origin.
[[nodiscard]] std::vector<std::string> stripped_by(Stage stage);
// Whether bytes may go to that host, written without the code under test.
[[nodiscard]] bool may_reach(Stage stage, std::string_view host);

}  // namespace stile::fuzz
