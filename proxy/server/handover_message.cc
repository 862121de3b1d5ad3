// Message: its form as bytes.
#include "proxy/server/handover_message.h"

#include <algorithm>

#include "base/pack.h"

namespace stile::server {
namespace {

constexpr std::size_t max_name = 4096;  // a path, an id
constexpr std::size_t max_list = 4096;

}  // namespace

std::string pack(const Message& message) {
  Packer out;
  out.number(static_cast<std::uint8_t>(message.kind)).number(message.first).number(message.second);
  out.flag(message.flag).flag(message.other_flag);
  out.text(message.name).text(message.agent).text(message.text);
  out.number(static_cast<std::uint32_t>(message.list.size()));
  for (const auto& entry : message.list) out.text(entry);
  return out.take();
}

Result<Message> unpack_message(std::string_view bytes) {
  Unpacker in{bytes};
  Message message;
  const auto kind = in.number<std::uint8_t>();
  if (kind == 0 || kind > Message::last_kind) in.fail();
  message.kind = static_cast<Message::Kind>(kind);
  message.first = in.number<std::uint64_t>();
  message.second = in.number<std::uint64_t>();
  message.flag = in.flag();
  message.other_flag = in.flag();
  message.name = in.text(max_name);
  message.agent = in.text(max_name);
  message.text = in.text(Message::max_bytes);
  const auto entries = in.number<std::uint32_t>();
  if (entries > max_list) in.fail();
  for (std::uint32_t i = 0; i < entries && in.is_good(); ++i) {
    message.list.push_back(in.text(max_name));
  }
  if (!in.is_done()) return Error{"a message of the other daemon is malformed"};
  return message;
}

std::uint64_t common_format(std::uint64_t oldest, std::uint64_t newest) noexcept {
  const std::uint64_t common = std::min(newest, newest_format);
  return oldest <= newest && common >= std::max(oldest, oldest_format) ? common : 0;
}

}  // namespace stile::server
