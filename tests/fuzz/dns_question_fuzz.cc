// Fuzzes the reader of DNS queries, as UDP and as TCP messages, and the answers to them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "acl/host.h"
#include "proxy/dns/question.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stile::dns;
  const Packet query{data, size};
  const Question question = read_question(query);
  if (question.state == Question::State::ignored) return 0;
  const bool is_valid = question.state == Question::State::valid;
  STILE_FUZZ_CHECK(is_valid == (question.fault == Rcode::ok));
  STILE_FUZZ_CHECK(question.end <= size);
  STILE_FUZZ_CHECK(question.name.size() <= 4 * 255);
  for (const char c : question.name) STILE_FUZZ_CHECK(c > ' ' && c < '\x7f');

  // What is a host for the policy is that host on the wire, too.
  const auto host = stile::acl::parse_host(question.name);
  if (is_valid && host.kind == stile::acl::HostParse::Kind::name) {
    const auto expected = Name::from_text(host.host.text());
    std::size_t at = header_bytes;
    const auto sent = Name::read(query, at);
    STILE_FUZZ_CHECK(expected && sent && *expected == *sent);
  }

  std::string answer;
  const NameAnswer given{question.fault, stile::acl::Address::v4(0xc6120002), 60};
  write_answer(answer, query, question, given);
  STILE_FUZZ_CHECK(answer.size() <= max_answer_bytes);
  // An answer is never taken for a question: two servers cannot keep each other busy.
  const Packet bytes{reinterpret_cast<const std::uint8_t*>(answer.data()), answer.size()};
  STILE_FUZZ_CHECK(read_question(bytes).state == Question::State::ignored);

  std::string framed;
  write_framed_answer(framed, query, question, given);
  const Framed again = read_framed(framed);
  STILE_FUZZ_CHECK(again.state == Framed::State::complete && again.consumed == framed.size());
  return 0;
}
