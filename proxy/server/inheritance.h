// Inheritance: what still comes from the process that this one has taken over from.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <memory>
#include <thread>

#include "acl/policy.h"
#include "audit/log.h"
#include "proxy/server/handover_link.h"

namespace stile::server {

class Inheritance {
 public:
  // `lines`: where the other process sends its audit lines. They are written by a thread of their
  // own: its workers wait for each.
  Inheritance(boost::asio::io_context& context, HandoverLink from, UniqueFd lines, audit::Log& log);
  ~Inheritance();
  Inheritance(const Inheritance&) = delete;
  Inheritance& operator=(const Inheritance&) = delete;

  HandoverLink link;
  boost::asio::posix::stream_descriptor events;  // of the same socket
  std::size_t received = 0;                      // tunnels
  std::shared_ptr<const acl::Snapshot> told;     // the policy that the other process knows of

 private:
  UniqueFd lines_;
  std::thread writer_;
};

}  // namespace stile::server
