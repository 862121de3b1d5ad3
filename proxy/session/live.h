// Live: anything of an agent that is open: a request being set up, a tunnel, a kept connection.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "acl/account.h"
#include "acl/policy.h"
#include "proxy/metrics/tally.h"

namespace stile::session {

struct Shared;

// Whether a listener that was lent to the daemon is still served; its worker's thread alone looks
// and sets it. Null: a listener for good.
using Lent = std::shared_ptr<const bool>;

// Who is on the other end of a client connection. Fixed at accept; nothing that is sent changes it.
class Peer {
 public:
  Peer(Shared& shared, std::shared_ptr<const acl::AgentPolicy> agent,
       std::shared_ptr<acl::Account> account, std::shared_ptr<metrics::Tally> tally,
       const acl::Address& address, std::uint16_t port, std::uint64_t conn, bool by_listener,
       Lent lent = nullptr);
  ~Peer();
  Peer(Peer&&) noexcept = default;
  Peer& operator=(Peer&&) = delete;

  // The agent's entry in a snapshot, if it is still the same agent; null otherwise.
  [[nodiscard]] const std::shared_ptr<const acl::AgentPolicy>* in(const acl::Snapshot&) const;
  // Under which name it is logged and counted; "-" for nobody.
  [[nodiscard]] const std::string& id() const noexcept { return tally->agent; }
  [[nodiscard]] const acl::Address& source() const noexcept { return address_; }
  [[nodiscard]] std::string source_text() const;

  std::shared_ptr<const acl::AgentPolicy> agent;  // as last judged; null for nobody
  std::shared_ptr<acl::Account> account;
  std::shared_ptr<metrics::Tally> tally;  // an ordered list names it anew for each request
  std::uint64_t conn;

 private:
  Shared* shared_;
  acl::Address address_;
  std::uint16_t port_;
  bool by_listener_;  // known by the socket it came in on, not by its address
  Lent lent_;
};

struct ConnectionInfo {
  std::string agent, host, origin;
  std::uint16_t port = 0;
  std::uint64_t bytes_up = 0, bytes_down = 0;
  double age_seconds = 0;
};

class Live : public boost::intrusive::list_base_hook<
                 boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  // The policy has changed, or (`all`) time has passed: cut if this would not be let through now.
  virtual void judge_again(const acl::Snapshot& snapshot, bool all) = 0;
  // Everybody has been judged: what was cut is closed and gets its line.
  virtual void close_if_cut() {}
  // The daemon is to end: finish what is under way, take nothing new.
  virtual void drain() = 0;
  // End at once.
  virtual void end() = 0;
  // What to tell of it; nothing yet if no request is under way.
  [[nodiscard]] virtual bool describe(ConnectionInfo& info) const = 0;

 protected:
  ~Live() = default;
};

using LiveList = boost::intrusive::list<Live, boost::intrusive::constant_time_size<false>>;

}  // namespace stile::session
