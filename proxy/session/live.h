// Live: anything open of an agent: a request being set up, a tunnel, a kept connection.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "acl/account.h"
#include "acl/policy.h"
#include "proxy/dns/agent_names.h"
#include "proxy/metrics/tally.h"

namespace stile::session {

class Shared;
class TunnelSink;

// True while a listener that was lent to the daemon is still served; only its worker's thread reads
// and sets it. Null: a permanent listener.
using Lent = std::shared_ptr<const bool>;

// The destination of a connection that was captured: its client does not know of the proxy.
struct Captured {
  acl::Address address;
  std::uint16_t port = 0;
  dns::StandInPtr stand_in;  // keeps the address for its name; null: it stands for nothing
};
using CapturedPtr = std::unique_ptr<const Captured>;

// The client of a connection. Fixed at accept; nothing that the client sends changes it.
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
  // The name for log and counters; "-" if there is no agent.
  [[nodiscard]] const std::string& id() const noexcept { return tally->agent; }
  [[nodiscard]] const acl::Address& source() const noexcept { return address_; }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::string source_text() const;
  [[nodiscard]] bool is_known_by_listener() const noexcept { return by_listener_; }
  [[nodiscard]] bool is_lent() const noexcept { return lent_ != nullptr; }

  std::shared_ptr<const acl::AgentPolicy> agent;  // as last judged; null if there is none
  std::shared_ptr<acl::Account> account;
  std::shared_ptr<metrics::Tally> tally;  // an ordered list renames it for each request
  std::uint64_t conn;
  CapturedPtr captured;  // null: the client speaks to the proxy

 private:
  Shared* shared_;
  acl::Address address_;
  std::uint16_t port_;
  bool by_listener_;  // known by its listener, not by its address
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
  // The policy has changed, or (`all`) time has passed: cut it if it would be refused now.
  virtual void judge_again(const acl::Snapshot& snapshot, bool all) = 0;
  // All have been judged: closes it and writes its line if it was cut.
  virtual void close_if_cut() {}
  // The daemon is stopping: finish the current request, accept no new ones.
  virtual void drain() = 0;
  // End at once.
  virtual void end() = 0;
  // Another process reads what this one has promised to clients, and then serves: from here on,
  // nothing more may be promised.
  virtual void promise_no_more() {}
  // Whether another process can continue it from here.
  [[nodiscard]] virtual bool can_move() const noexcept { return false; }
  // Hands it over and ends here; only if it can_move(). False: the other process is gone.
  [[nodiscard]] virtual bool move_to(TunnelSink& /*sink*/) { return false; }
  // Describes it for a listing; false if no request is being served yet.
  [[nodiscard]] virtual bool describe(ConnectionInfo& info) const = 0;

 protected:
  ~Live() = default;
};

using LiveList = boost::intrusive::list<Live, boost::intrusive::constant_time_size<false>>;

}  // namespace stile::session
