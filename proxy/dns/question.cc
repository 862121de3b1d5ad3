// Question: reads a DNS query of an agent and writes the answer to it.
#include "proxy/dns/question.h"

namespace stile::dns {
namespace {

constexpr std::uint16_t response_bit = 0x8000, opcode_mask = 0x7800, recursion_desired = 0x0100,
                        recursion_available = 0x0080;
constexpr std::uint16_t type_opt = 41;
constexpr std::uint16_t edns_bytes = 1232;  // never needed: every answer is shorter
constexpr std::size_t max_label = 63, max_name = 255;

bool is_host_byte(std::uint8_t c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

void append_label(std::string& name, Packet label) {
  if (!name.empty()) name += '.';
  for (std::uint8_t c : label) {
    if (c >= 'A' && c <= 'Z') c = static_cast<std::uint8_t>(c | 0x20);
    if (is_host_byte(c)) {
      name += static_cast<char>(c);
    } else {
      name += '\\';
      for (const int part : {c / 100, c / 10 % 10, c % 10}) name += static_cast<char>('0' + part);
    }
  }
}

// The name at `at`, which is moved past it. There is nothing before it that a compression pointer
// could point to, so a pointer is an error.
bool read_name(Packet query, std::size_t& at, std::string& name) {
  const std::size_t begin = at;
  while (at < query.size()) {
    const std::size_t length = query[at++];
    if (length == 0) return at - begin <= max_name;
    if (length > max_label || length > query.size() - at) return false;
    if (at + length - begin >= max_name) return false;  // the final zero must fit, too
    append_label(name, query.subspan(at, length));
    at += length;
  }
  return false;
}

// The only record of a query: OPT, with the root as its name (RFC 6891 6.1.2).
Rcode read_opt(Packet query, std::size_t& at) {
  if (at >= query.size() || query[at] != 0) return Rcode::format_error;
  const auto record = read_record(query, at);
  if (!record || record->type != type_opt) return Rcode::format_error;
  const std::size_t version_at = record->owner_at + 6;  // after root, type, class, extended code
  return query[version_at] == 0 ? Rcode::ok : Rcode::bad_version;
}

// Reads everything after the flags; returns the fault.
Rcode read_sections(Packet query, Question& question) {
  std::size_t at = 4;
  const auto questions = read_u16(query, at), answers = read_u16(query, at),
             authorities = read_u16(query, at), additional = read_u16(query, at);
  if (questions != 1 || answers != 0 || authorities != 0 || additional > 1) {
    return Rcode::format_error;
  }
  if (!read_name(query, at, question.name)) return Rcode::format_error;
  const auto type = read_u16(query, at), rclass = read_u16(query, at);
  if (!type || !rclass) return Rcode::format_error;
  question.type = *type;
  question.end = at;
  if (additional == 1) {
    const Rcode fault = read_opt(query, at);
    question.has_edns = fault != Rcode::format_error;
    if (fault != Rcode::ok) return fault;
  }
  if (at != query.size()) return Rcode::format_error;
  return rclass == class_in ? Rcode::ok : Rcode::refused;
}

void put_u16(std::string& out, std::size_t value) {
  out += static_cast<char>(value >> 8 & 0xff);
  out += static_cast<char>(value & 0xff);
}

void put_u32(std::string& out, std::uint32_t value) {
  put_u16(out, value >> 16);
  put_u16(out, value & 0xffff);
}

void put_bytes(std::string& out, Packet bytes) {
  out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

Question read_question(Packet query) {
  Question question;
  std::size_t at = 2;
  const auto flags = read_u16(query, at);
  if (query.size() < header_bytes || query.size() > max_query_bytes || !flags ||
      (*flags & response_bit) != 0) {
    return question;
  }
  question.fault =
      (*flags & opcode_mask) != 0 ? Rcode::not_implemented : read_sections(query, question);
  question.state = question.fault == Rcode::ok ? Question::State::valid : Question::State::invalid;
  return question;
}

void write_answer(std::string& out, Packet query, const Question& question,
                  const NameAnswer& answer) {
  const bool has_question = question.end != 0;
  const bool has_address = answer.code == Rcode::ok && answer.address.has_value();
  const auto code = static_cast<std::uint16_t>(answer.code);
  std::size_t at = 2;
  const std::uint16_t asked = read_u16(query, at).value_or(0);
  put_bytes(out, query.first(2));  // the id
  // Without recursion, some resolvers take an answer without records for a referral.
  put_u16(out, response_bit | (asked & (opcode_mask | recursion_desired)) | recursion_available |
                   (code & 0xf));
  put_u16(out, has_question ? 1 : 0);
  put_u16(out, has_address ? 1 : 0);
  put_u16(out, 0);
  put_u16(out, question.has_edns ? 1 : 0);
  if (has_question) put_bytes(out, query.subspan(header_bytes, question.end - header_bytes));
  if (has_address) {
    put_u16(out, 0xc000 | header_bytes);  // the name of the question
    put_u16(out, Question::type_a);
    put_u16(out, class_in);
    put_u32(out, answer.ttl_seconds);
    put_u16(out, 4);
    put_u32(out, answer.address->v4_value());
  }
  if (question.has_edns) {
    out += '\0';
    put_u16(out, type_opt);
    put_u16(out, edns_bytes);
    put_u32(out, static_cast<std::uint32_t>(code >> 4) << 24);
    put_u16(out, 0);
  }
}

Framed read_framed(std::string_view received) noexcept {
  Framed framed;
  const Packet bytes{reinterpret_cast<const std::uint8_t*>(received.data()), received.size()};
  std::size_t at = 0;
  const auto length = read_u16(bytes, at);
  if (!length) return framed;
  if (*length > max_query_bytes) {
    framed.state = Framed::State::too_long;
  } else if (bytes.size() - at >= *length) {
    framed = {Framed::State::complete, bytes.subspan(at, *length), at + *length};
  }
  return framed;
}

void write_framed_answer(std::string& out, Packet query, const Question& question,
                         const NameAnswer& answer) {
  const std::size_t begin = out.size();
  put_u16(out, 0);
  write_answer(out, query, question, answer);
  const std::size_t bytes = out.size() - begin - 2;
  out[begin] = static_cast<char>(bytes >> 8 & 0xff);
  out[begin + 1] = static_cast<char>(bytes & 0xff);
}

}  // namespace stile::dns
