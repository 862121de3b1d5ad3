// DNS answers: checks that the question is ours, then follows its name to the addresses.
#include "proxy/dns/answer.h"

#include <algorithm>
#include <array>
#include <optional>

#include "proxy/dns/wire.h"

namespace stile::dns {
namespace {

using Status = Answer::Status;

constexpr std::uint16_t type_cname = 5, type_soa = 6;
constexpr std::size_t max_records = 256;  // each is checked once per CNAME
// Twice as many as are ever dialled. Each name of a cache can have so many of both families, and an
// agent that owns a zone can fill the cache.
constexpr std::size_t max_addresses = 16;

struct Header {
  std::uint16_t flags = 0;
  std::uint16_t questions = 0, answers = 0, authorities = 0;

  [[nodiscard]] bool is_plain_answer() const noexcept {
    // An answer to a query (opcode 0), not truncated. The resolver retries a truncated answer over
    // TCP before it gets here.
    constexpr std::uint16_t qr = 0x8000, opcode = 0x7800, tc = 0x0200;
    return (flags & (qr | opcode | tc)) == qr && questions == 1;
  }
  [[nodiscard]] int rcode() const noexcept { return flags & 0x000f; }
};

std::optional<Header> read_header(Packet packet) noexcept {
  if (packet.size() < header_bytes) return std::nullopt;
  std::size_t at = 2;  // the id is compared where it was chosen
  Header header;
  header.flags = read_u16(packet, at).value_or(0);
  header.questions = read_u16(packet, at).value_or(0);
  header.answers = read_u16(packet, at).value_or(0);
  header.authorities = read_u16(packet, at).value_or(0);
  return header;
}

// For names that are equal except for case: is the case the same, too? On the wire each dot is
// replaced by the length of the next label.
bool is_echo(Packet wire_name, std::string_view text) noexcept {
  wire_name = wire_name.subspan(1);  // the length of the first label
  const std::size_t count = std::min(text.size(), wire_name.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (text[i] != '.' && wire_name[i] != static_cast<std::uint8_t>(text[i])) return false;
  }
  return true;
}

// ok, case_mismatch or malformed; moves `at` past the question.
Status check_question(Packet packet, std::size_t& at, std::string_view name, Rtype type) noexcept {
  const auto asked = Name::from_text(name);
  const std::size_t begin = at;
  const auto echoed = Name::read(packet, at);
  if (!asked || !echoed || *asked != *echoed) return Status::malformed;
  const Packet raw = packet.subspan(begin, at - begin);
  const auto echoed_type = read_u16(packet, at), echoed_class = read_u16(packet, at);
  if (echoed_type != static_cast<std::uint16_t>(type) || echoed_class != class_in) {
    return Status::malformed;
  }
  return is_echo(raw, name) ? Status::ok : Status::case_mismatch;
}

// The answer section; only records of class IN are kept. nullopt: malformed.
std::optional<std::vector<ResourceRecord>> read_records(Packet packet, std::size_t& at,
                                                        std::size_t count) {
  if (count > max_records) return std::nullopt;
  std::vector<ResourceRecord> records;
  records.reserve(std::min(count, packet.size() / 11));  // a record has at least 11 bytes
  for (std::size_t i = 0; i < count; ++i) {
    const auto record = read_record(packet, at);
    if (!record) return std::nullopt;
    if (record->rclass == class_in) records.push_back(*record);
  }
  return records;
}

// Follows the CNAMEs from `name`, with the smallest TTL of the chain. nullopt: two CNAMEs for one
// name, or too many, which includes loops.
struct ChainEnd {
  Name name;
  std::uint32_t ttl_seconds;
};
std::optional<ChainEnd> follow_cnames(Packet packet, const std::vector<ResourceRecord>& records,
                                      Name name) {
  std::uint32_t ttl = UINT32_MAX;
  for (int hops = 0; hops <= max_cnames; ++hops) {
    const ResourceRecord* link = nullptr;
    for (const ResourceRecord& record : records) {
      if (record.type != type_cname || record.owner != name) continue;
      if (link != nullptr) return std::nullopt;
      link = &record;
    }
    if (link == nullptr) return ChainEnd{name, ttl};
    std::size_t at = link->data_at;
    const auto target = Name::read(packet, at);
    if (!target || at != link->data_at + link->data_bytes) return std::nullopt;
    ttl = std::min(ttl, link->ttl_seconds);
    name = *target;
  }
  return std::nullopt;
}

acl::Address address_in(Packet packet, const ResourceRecord& record) noexcept {
  std::size_t at = record.data_at;
  if (record.type == static_cast<std::uint16_t>(Rtype::a)) {
    return acl::Address::v4(read_u32(packet, at).value_or(0));
  }
  std::array<std::uint8_t, 16> bytes{};
  std::copy_n(packet.begin() + static_cast<std::ptrdiff_t>(at), bytes.size(), bytes.begin());
  return acl::Address::v6(bytes);
}

// RFC 2308 5: how long a negative answer may be cached. 0: not at all.
std::uint32_t negative_ttl(Packet packet, std::size_t at, std::size_t count,
                           const Name& name) noexcept {
  for (std::size_t i = 0; i < std::min(count, max_records); ++i) {
    const auto record = read_record(packet, at);
    if (!record) return 0;
    if (record->type != type_soa || record->rclass != class_in) continue;
    if (!name.is_within(record->owner)) continue;
    constexpr std::size_t numbers_bytes = 20, minimum_bytes = 4;  // at the end of the data
    if (record->data_bytes < numbers_bytes) return 0;
    std::size_t minimum_at = record->data_at + record->data_bytes - minimum_bytes;
    const std::uint32_t minimum = read_u32(packet, minimum_at).value_or(0);
    return std::min(record->ttl_seconds, minimum);
  }
  return 0;
}

// Adds the addresses that the chain's end owns. False: one has the wrong length.
bool collect_addresses(Packet packet, const std::vector<ResourceRecord>& records,
                       const ChainEnd& end, Rtype type, Answer& answer) {
  const std::size_t address_bytes = type == Rtype::a ? 4 : 16;
  answer.ttl_seconds = end.ttl_seconds;
  for (const ResourceRecord& record : records) {
    if (record.type != static_cast<std::uint16_t>(type)) continue;
    if (record.owner != end.name) continue;
    if (record.data_bytes != address_bytes) return false;
    if (answer.addresses.size() == max_addresses) break;
    answer.addresses.push_back(address_in(packet, record));
    answer.ttl_seconds = std::min(answer.ttl_seconds, record.ttl_seconds);
  }
  return true;
}

}  // namespace

Answer read_answer(std::span<const std::uint8_t> packet, std::string_view name, Rtype type,
                   CaseRule letters) {
  constexpr int no_error = 0, name_error = 3;
  Answer answer;
  const auto header = read_header(packet);
  if (!header || !header->is_plain_answer()) return answer;
  std::size_t at = header_bytes;
  const Status question = check_question(packet, at, name, type);
  const bool is_ours =
      question == Status::ok || (question == Status::case_mismatch && letters == CaseRule::ignore);
  if (!is_ours) {
    answer.status = question;
    return answer;
  }
  if (header->rcode() != no_error && header->rcode() != name_error) {
    answer.status = Status::failed;
    return answer;
  }

  const auto records = read_records(packet, at, header->answers);
  const auto asked = Name::from_text(name);
  if (!records || !asked) return answer;
  const auto end = follow_cnames(packet, *records, *asked);
  if (!end) return answer;
  if (header->rcode() == no_error) {
    if (!collect_addresses(packet, *records, *end, type, answer)) return Answer{};
    answer.status = answer.addresses.empty() ? Status::no_data : Status::ok;
  } else {
    answer.status = Status::no_name;
  }
  if (answer.status != Status::ok) {
    answer.ttl_seconds =
        std::min(end->ttl_seconds, negative_ttl(packet, at, header->authorities, end->name));
  }
  return answer;
}

}  // namespace stile::dns
