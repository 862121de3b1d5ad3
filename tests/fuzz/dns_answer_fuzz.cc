// Fuzzes the DNS answer reader with packets; it asks what the packet's own question says, so that
// mutations get past the echo check. The type is AAAA if the packet's question says so, else A.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "proxy/dns/answer.h"
#include "tests/fuzz/check.h"

namespace {

using namespace stile::dns;
using Status = Answer::Status;
using Packet = std::vector<std::uint8_t>;

// The labels from byte 12 on as text; empty if there is no such name of letters.
std::string question_of(const Packet& packet) {
  std::string name;
  std::size_t at = 12;
  while (at < packet.size() && packet[at] != 0) {
    const std::size_t length = packet[at++];
    if (length > 63 || length > packet.size() - at) return {};
    if (!name.empty()) name += '.';
    for (std::size_t i = 0; i < length; ++i) {
      const auto c = static_cast<char>(packet[at++]);
      if (c == '.') return {};
      name += c;
    }
  }
  return name;
}

Rtype type_of(const Packet& packet, const std::string& name) {
  const std::size_t at = 12 + name.size() + 2;
  return at + 1 < packet.size() && packet[at + 1] == 28 ? Rtype::aaaa : Rtype::a;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Packet packet(data, data + size);
  std::string name = question_of(packet);
  const Rtype type = type_of(packet, name);
  const Answer answer = read_answer(packet, name, type);
  STILE_FUZZ_CHECK((answer.status == Status::ok) == !answer.addresses.empty());
  STILE_FUZZ_CHECK(answer.addresses.size() <= 64);
  STILE_FUZZ_CHECK(answer.ttl_seconds <= 0x7fffffff);
  for (const auto& address : answer.addresses) {
    STILE_FUZZ_CHECK(address.is_v4() == (type == Rtype::a));
  }
  STILE_FUZZ_CHECK(answer.status != Status::case_mismatch);
  if (answer.status == Status::malformed) return 0;

  // Another name is never answered by this packet, and other letters are seen.
  STILE_FUZZ_CHECK(read_answer(packet, "x" + name, type).status == Status::malformed);
  for (char& c : name) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      c = static_cast<char>(c ^ 0x20);
      STILE_FUZZ_CHECK(read_answer(packet, name, type).status == Status::case_mismatch);
      c = static_cast<char>(c ^ 0x20);
      break;
    }
  }
  // What comes after the answers changes no address.
  packet.insert(packet.end(), 20, 0xff);
  const Answer again = read_answer(packet, name, type);
  STILE_FUZZ_CHECK(again.status == answer.status && again.addresses == answer.addresses);
  STILE_FUZZ_CHECK(answer.status != Status::ok || again.ttl_seconds == answer.ttl_seconds);
  return 0;
}
