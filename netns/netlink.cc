// Netlink: requests to the kernel and their answers.
#include "netns/netlink.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>

#include <cerrno>
#include <vector>

#include "base/system_error.h"

namespace stile::netns {
namespace {

// Large enough for any message that the kernel puts into a dump.
constexpr std::size_t receive_bytes = 64U << 10U;

// The sentence that newer kernels add to an error.
std::string words_of(const nlmsghdr& message) {
  const auto* error = static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(&message));
  if ((message.nlmsg_flags & NLM_F_ACK_TLVS) == 0) return {};
  std::size_t skip = sizeof(nlmsgerr);
  if ((message.nlmsg_flags & NLM_F_CAPPED) == 0) skip += error->msg.nlmsg_len - sizeof(nlmsghdr);
  std::string words;
  for_attributes(message, skip, [&](std::uint16_t type, const nlattr& attribute) {
    if (type == NLMSGERR_ATTR_MSG) words = text_of(attribute);
  });
  return words;
}

}  // namespace

NetlinkMessage::NetlinkMessage(std::uint16_t type, std::uint16_t flags)
    : header_{mnl_nlmsg_put_header(buffer_.data())} {
  header_->nlmsg_type = type;
  header_->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
}

void NetlinkMessage::put(std::uint16_t type, std::string_view text) {
  mnl_attr_put_strz(header_, type, std::string{text}.c_str());
}

void NetlinkMessage::put(std::uint16_t type, const void* data, std::size_t size) {
  mnl_attr_put(header_, type, size, data);
}

void NetlinkMessage::put_u32(std::uint16_t type, std::uint32_t value) {
  mnl_attr_put_u32(header_, type, value);
}

void NetlinkMessage::put_address(std::uint16_t type, const acl::Address& v4) {
  mnl_attr_put_u32(header_, type, htonl(v4.v4_value()));
}

Error KernelAnswer::error(const std::string& what) const {
  auto error = system_error(what, code);
  if (!words.empty()) error.message += " (" + words + ")";
  return error;
}

Result<Netlink> Netlink::open(int protocol) {
  Netlink netlink{mnl_socket_open2(protocol, SOCK_CLOEXEC)};
  if (!netlink.socket_) return system_error("cannot open a netlink socket");
  if (mnl_socket_bind(netlink.socket_.get(), 0, MNL_SOCKET_AUTOPID) != 0) {
    return system_error("cannot bind a netlink socket");
  }
  int on = 1;
  // Old kernels refuse this; then errors have only a number.
  mnl_socket_setsockopt(netlink.socket_.get(), NETLINK_EXT_ACK, &on, sizeof on);
  return netlink;
}

KernelAnswer Netlink::change(NetlinkMessage& message) {
  message.header()->nlmsg_flags |= NLM_F_ACK;
  return ask(message, [](const nlmsghdr&) {});
}

KernelAnswer Netlink::ask(NetlinkMessage& message, const Each& each) {
  const bool is_dump = (message.header()->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
  const bool has_ack = (message.header()->nlmsg_flags & NLM_F_ACK) != 0;
  message.header()->nlmsg_seq = ++sequence_;
  if (mnl_socket_sendto(socket_.get(), message.header(), message.header()->nlmsg_len) < 0) {
    return {errno, {}};
  }
  std::vector<char> buffer(receive_bytes);
  bool was_interrupted = false;
  while (true) {
    const auto got = mnl_socket_recvfrom(socket_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {errno, {}};
    int left = static_cast<int>(got);
    for (const auto* part = reinterpret_cast<const nlmsghdr*>(buffer.data());
         mnl_nlmsg_ok(part, left); part = mnl_nlmsg_next(part, &left)) {
      if (part->nlmsg_seq != sequence_) continue;  // an event, or a stale answer
      if ((part->nlmsg_flags & NLM_F_DUMP_INTR) != 0) was_interrupted = true;
      if (part->nlmsg_type == NLMSG_DONE) return {was_interrupted ? EINTR : 0, {}};
      if (part->nlmsg_type == NLMSG_ERROR) {
        const auto* error = static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(part));
        return {-error->error, words_of(*part)};
      }
      each(*part);
      if (!is_dump && !has_ack) return {};
    }
  }
}

Result<void> Netlink::join(unsigned group) {
  if (mnl_socket_setsockopt(socket_.get(), NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0) {
    return system_error("cannot follow netlink group " + std::to_string(group));
  }
  return {};
}

void for_attributes(const nlmsghdr& message, std::size_t header_size, const EachAttribute& each) {
  const auto* attribute =
      static_cast<const nlattr*>(mnl_nlmsg_get_payload_offset(&message, header_size));
  const auto* tail = static_cast<const char*>(mnl_nlmsg_get_payload_tail(&message));
  for (; mnl_attr_ok(attribute, static_cast<int>(tail - reinterpret_cast<const char*>(attribute)));
       attribute = mnl_attr_next(attribute)) {
    each(mnl_attr_get_type(attribute), *attribute);
  }
}

void for_nested(const nlattr& nest, const EachAttribute& each) {
  const auto* attribute = static_cast<const nlattr*>(mnl_attr_get_payload(&nest));
  const auto* tail =
      static_cast<const char*>(mnl_attr_get_payload(&nest)) + mnl_attr_get_payload_len(&nest);
  for (; mnl_attr_ok(attribute, static_cast<int>(tail - reinterpret_cast<const char*>(attribute)));
       attribute = mnl_attr_next(attribute)) {
    each(mnl_attr_get_type(attribute), *attribute);
  }
}

std::string_view text_of(const nlattr& attribute) {
  const std::string_view bytes{static_cast<const char*>(mnl_attr_get_payload(&attribute)),
                               mnl_attr_get_payload_len(&attribute)};
  return bytes.substr(0, bytes.find('\0'));
}

acl::Address address_of(const nlattr& attribute) {
  if (mnl_attr_get_payload_len(&attribute) != sizeof(std::uint32_t)) return {};
  return acl::Address::v4(ntohl(mnl_attr_get_u32(&attribute)));
}

}  // namespace stile::netns
