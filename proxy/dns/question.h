// Question: reads a DNS query of an agent and writes the answer to it. Pure.
//
// The name server answers from the agent's policy alone, so a query needs little: one question of
// class IN, at most one OPT record, nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "acl/address.h"
#include "proxy/dns/wire.h"

namespace stile::dns {

// RFC 1035 4.1.1; bad_version is an extended code of RFC 6891.
enum class Rcode : std::uint8_t {
  ok = 0,
  format_error = 1,
  server_failure = 2,
  no_name = 3,
  not_implemented = 4,
  refused = 5,
  bad_version = 16,
};

// A query has one name and a few options. Longer messages are not answered.
inline constexpr std::size_t max_query_bytes = 4096;

struct Question {
  enum class State : std::uint8_t {
    ignored,  // no answer: not a query, or too short to have an id
    invalid,  // answered with `fault`
    valid,
  };
  static constexpr std::uint16_t type_a = 1;

  State state = State::ignored;
  Rcode fault = Rcode::ok;
  std::uint16_t type = 0;
  bool has_edns = false;
  std::size_t end = 0;  // of the question in the query; 0: it was not read
  // Dotted text in lower case, without a final dot. Bytes that no host name has are written as
  // \DDD, so that a dot inside a label cannot look like the end of one.
  std::string name;
};

[[nodiscard]] Question read_question(Packet query);

struct NameAnswer {
  Rcode code = Rcode::ok;
  std::optional<acl::Address> address;  // only for `ok`; none: the name has no such record
  std::uint32_t ttl_seconds = 0;
};
// Appends the answer to `out`. `question` is what read_question(query) returned, not ignored. The
// question is repeated as sent, letter case included. An answer has at most max_answer_bytes.
inline constexpr std::size_t max_answer_bytes = 512;
void write_answer(std::string& out, Packet query, const Question& question,
                  const NameAnswer& answer);

// Over TCP each message has its length before it (RFC 1035 4.2.2).
struct Framed {
  enum class State : std::uint8_t { need_more, complete, too_long };
  State state = State::need_more;
  Packet message;
  std::size_t consumed = 0;
};
[[nodiscard]] Framed read_framed(std::string_view received) noexcept;
// Appends the length and the answer.
void write_framed_answer(std::string& out, Packet query, const Question& question,
                         const NameAnswer& answer);

}  // namespace stile::dns
