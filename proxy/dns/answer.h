// DNS answer reader: takes a raw response, returns the addresses that answer the question. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acl/address.h"

namespace stile::dns {

enum class Rtype : std::uint16_t { a = 1, aaaa = 28 };

struct Answer {
  enum class Status : std::uint8_t {
    malformed,
    case_mismatch,  // the question came back in other letter case: not an echo of ours (0x20)
    failed,         // SERVFAIL, REFUSED …
    no_name,        // NXDOMAIN
    no_data,
    ok,
  };
  Status status = Status::malformed;
  std::vector<acl::Address> addresses;
  std::uint32_t ttl_seconds = 0;  // the smallest along the chain; for no_name and no_data the SOA's
};

inline constexpr int max_cnames = 16;

// Over UDP the letter case of the question must come back as sent. Over TCP, where blind forgery is
// not possible, a server that changes it is accepted.
enum class CaseRule : std::uint8_t { exact, ignore };

// Only records of class IN count whose owner is the question's name, or the end of a chain of at
// most max_cnames CNAMEs that starts there; all other records in the packet are ignored. `name` is
// the question as sent, with its random letter case.
[[nodiscard]] Answer read_answer(std::span<const std::uint8_t> packet, std::string_view name,
                                 Rtype type, CaseRule letters = CaseRule::exact);

}  // namespace stile::dns
