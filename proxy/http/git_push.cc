// GitPush: the commands at the beginning of a push.
#include "proxy/http/git_push.h"

#include <algorithm>

#include "base/ascii.h"

namespace stile::http {
namespace {

constexpr std::size_t length_digits = 4;
constexpr std::size_t max_line = 1000;  // shown by git; the packet may have 65520 bytes

// The length of a packet with its four digits; negative: these are no digits.
int packet_length(std::string_view digits) {
  int length = 0;
  for (const char c : digits.substr(0, length_digits)) {
    const int value = hex_value(c);
    if (value < 0) return -1;
    length = length << 4 | value;
  }
  return length;
}

bool is_object_id(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         std::all_of(text.begin(), text.end(), [](char c) { return hex_value(c) >= 0; });
}

std::string packet(std::string_view content) {
  constexpr std::string_view digits = "0123456789abcdef";
  const std::size_t size = content.size() + length_digits;
  std::string out;
  for (int shift = 12; shift >= 0; shift -= 4) out += digits[size >> shift & 0xfU];
  return out.append(content);
}

}  // namespace

PushReader::State PushReader::fail(const char* fault) noexcept {
  fault_ = fault;
  return state_ = State::bad;
}

PushReader::State PushReader::feed(std::string_view bytes) {
  while (state_ == State::need_more && !bytes.empty()) {
    const bool has_length = buffer_.size() >= length_digits;
    const std::size_t wanted =
        has_length ? static_cast<std::size_t>(packet_length(buffer_)) : length_digits;
    const std::size_t size = std::min(wanted - buffer_.size(), bytes.size());
    seen_ += size;
    if (seen_ > max_bytes) return fail("it has more commands than can be checked");
    buffer_.append(bytes.substr(0, size));
    bytes.remove_prefix(size);
    if (buffer_.size() < length_digits) continue;
    const int length = packet_length(buffer_);
    if (length == 0) {
      // git asks for nothing more than a flush packet to learn whether it has to log in.
      if (has_options_) return fail("push options are not allowed");
      state_ = State::complete;
      break;
    }
    if (length <= static_cast<int>(length_digits)) return fail("its packets are malformed");
    if (buffer_.size() < static_cast<std::size_t>(length)) continue;
    state_ = read_packet(std::string_view{buffer_}.substr(length_digits));
    buffer_.clear();
  }
  // git reads nothing behind such an end; another server might.
  if (must_end() && !bytes.empty()) return fail("it has more after its end");
  return state_;
}

PushReader::State PushReader::read_packet(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  constexpr std::string_view shallow = "shallow ";
  if (line.starts_with(shallow)) {
    return is_object_id(line.substr(shallow.size())) ? State::need_more
                                                     : fail("its packets are malformed");
  }
  const auto end = line.find('\0');
  if (end != std::string_view::npos) {
    // A second list could add what the first did not say.
    if (has_capabilities_) return fail("its packets are malformed");
    has_capabilities_ = true;
    read_capabilities(line.substr(end + 1));
    line = line.substr(0, end);
  }
  return read_command(line);
}

// git takes any white space before and after a capability. Push options are looked for anywhere in
// the list: a word that git would see must not be missed.
void PushReader::read_capabilities(std::string_view list) {
  has_options_ = has_options_ || list.find("push-options") != std::string_view::npos;
  while (!list.empty()) {
    const auto end = list.find_first_of(std::string_view{" \t\r\n\0", 5});
    const auto word = list.substr(0, end);
    wants_report_ = wants_report_ || word == "report-status" || word == "report-status-v2";
    has_sideband_ = has_sideband_ || word == "side-band-64k";
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
  }
}

PushReader::State PushReader::read_command(std::string_view line) {
  if (line.starts_with("push-cert")) return fail("signed pushes are not allowed");
  const auto first = line.find(' ');
  const auto second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos) return fail("its commands are malformed");
  const auto before = line.substr(0, first), after = line.substr(first + 1, second - first - 1);
  if (!is_object_id(before) || !is_object_id(after) || before.size() != after.size()) {
    return fail("its commands are malformed");
  }
  const bool is_deletion = after.find_first_not_of('0') == std::string_view::npos;
  commands_.push_back({std::string{line.substr(second + 1)}, is_deletion});
  return State::need_more;
}

std::string write_push_refusal(const PushReader& push, std::string_view reason,
                               std::string_view message) {
  std::string report = packet("unpack ok\n");
  for (const acl::PushCommand& command : push.commands()) {
    if (!acl::is_plain_ref(command.ref)) continue;
    report += packet("ng " + command.ref + ' ' + std::string{reason} + '\n');
  }
  report += "0000";
  if (!push.has_sideband()) return report;
  std::string out = packet("\2" + std::string{message.substr(0, max_line)} + '\n');
  for (std::string_view rest = report; !rest.empty();) {
    const auto size = std::min<std::size_t>(rest.size(), max_line);
    out += packet("\1" + std::string{rest.substr(0, size)});
    rest.remove_prefix(size);
  }
  return out + "0000";
}

}  // namespace stile::http
