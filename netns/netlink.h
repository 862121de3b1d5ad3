// Netlink: requests to the kernel and their answers. The only user of libmnl.
#pragma once

#include <libmnl/libmnl.h>
#include <linux/netlink.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "acl/address.h"
#include "base/result.h"

namespace stile::netns {

// One request under construction. The caller bounds everything put into it (device names,
// addresses), far below the size of the buffer.
class NetlinkMessage {
 public:
  NetlinkMessage(std::uint16_t type, std::uint16_t flags);
  NetlinkMessage(const NetlinkMessage&) = delete;  // header_ points into buffer_
  NetlinkMessage& operator=(const NetlinkMessage&) = delete;
  ~NetlinkMessage() = default;

  template <class Header>
  Header& extra() {
    return *static_cast<Header*>(mnl_nlmsg_put_extra_header(header_, sizeof(Header)));
  }
  void put(std::uint16_t type, std::string_view text);  // with a trailing NUL
  void put(std::uint16_t type, const void* data, std::size_t size);
  void put_u32(std::uint16_t type, std::uint32_t value);
  void put_address(std::uint16_t type, const acl::Address& v4);
  [[nodiscard]] nlattr* begin(std::uint16_t type) { return mnl_attr_nest_start(header_, type); }
  void end(nlattr* nest) { mnl_attr_nest_end(header_, nest); }
  [[nodiscard]] nlmsghdr* header() noexcept { return header_; }

 private:
  alignas(nlmsghdr) std::array<char, 4096> buffer_{};
  nlmsghdr* header_;
};

// The kernel's answer: 0 or an errno, with its error text if there is one.
struct KernelAnswer {
  int code = 0;
  std::string words;
  [[nodiscard]] bool is_ok() const noexcept { return code == 0; }
  [[nodiscard]] Error error(const std::string& what) const;
};

class Netlink {
 public:
  // Bound to the network namespace that the calling thread is in now, even if the thread moves
  // later.
  static Result<Netlink> open(int protocol = NETLINK_ROUTE);

  // Requests a change; the kernel acknowledges it.
  [[nodiscard]] KernelAnswer change(NetlinkMessage& message);
  // Queries the kernel; `each` gets every message of the answer. Without NLM_F_DUMP there is at
  // most one. EINTR: something changed during the dump, and the answer may be inconsistent. Retry.
  using Each = std::function<void(const nlmsghdr&)>;
  [[nodiscard]] KernelAnswer ask(NetlinkMessage& message, const Each& each);

  // For listening to events.
  [[nodiscard]] Result<void> join(unsigned group);
  [[nodiscard]] int fd() const noexcept { return mnl_socket_get_fd(socket_.get()); }

 private:
  struct Close {
    void operator()(mnl_socket* socket) const { mnl_socket_close(socket); }
  };
  explicit Netlink(mnl_socket* socket) : socket_{socket} {}

  std::unique_ptr<mnl_socket, Close> socket_;
  std::uint32_t sequence_ = 0;
};

// Calls `each` for every attribute of a message or of a nested attribute, with its type.
using EachAttribute = std::function<void(std::uint16_t, const nlattr&)>;
void for_attributes(const nlmsghdr& message, std::size_t header_size, const EachAttribute& each);
void for_nested(const nlattr& nest, const EachAttribute& each);

[[nodiscard]] std::string_view text_of(const nlattr& attribute);  // without the NUL
[[nodiscard]] acl::Address address_of(const nlattr& attribute);   // 0.0.0.0 if it is not one

}  // namespace stile::netns
