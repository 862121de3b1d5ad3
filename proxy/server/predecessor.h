// Predecessor: the running daemon that this process takes over from. Blocking; used before this
// process serves.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acl/host_budget.h"
#include "audit/log.h"
#include "base/result.h"
#include "proxy/server/handover_link.h"

namespace stile::server {

class Predecessor {
 public:
  // Connects to the daemon at that control socket and gets its sockets. Null: no daemon is there.
  // `watched`: what systemd should watch instead of this process; 0: this process.
  static Result<std::unique_ptr<Predecessor>> find(const std::string& control_path, pid_t watched);
  // The same with the daemon that waits at the rendezvous of a restart.
  static Result<std::unique_ptr<Predecessor>> meet(const HandoverLink& rendezvous);

  // The sockets of one place, out of the offer; empty: it has none.
  [[nodiscard]] std::vector<UniqueFd> take(SocketRole role, const std::string& name = {},
                                           const std::string& agent = {});
  struct Passed {
    std::string name;
    std::optional<std::string> agent;
    std::vector<UniqueFd> sockets;
  };
  // The listeners that systemd gave to it.
  [[nodiscard]] std::vector<Passed> take_passed();

  // What the log must look like for both; see audit_text.
  [[nodiscard]] const std::string& audit_settings() const noexcept { return audit_settings_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  // It serves only until another process does.
  [[nodiscard]] bool is_of_restart() const noexcept { return is_of_restart_; }
  // Then this process may want nothing of it: it drains and ends. An error: it goes on.
  [[nodiscard]] Result<void> give_way();

  // From here on its state on disk does not change.
  [[nodiscard]] Result<void> freeze();

  struct Minute {
    std::string agent, host;
    acl::MinuteCount::Saved count;
  };
  struct Commitment {
    std::uint64_t next_conn = 1;
    audit::Log::Head head;
    std::vector<Minute> minutes;  // that are not over yet
  };
  // This process runs and could serve. `lines`: the other end of the stream for audit lines. From
  // here until serve() the other process writes no line.
  [[nodiscard]] Result<Commitment> commit(const UniqueFd& lines);
  // This process serves from here on. Until this is sent, the other one can go on instead. An
  // error: it does.
  [[nodiscard]] Result<void> serve(const std::string& config_digest);

  // It died before it has let go: what it had is this process's, as after a crash.
  [[nodiscard]] bool is_dead() const noexcept { return is_dead_; }
  // For tunnels, after serve().
  [[nodiscard]] HandoverLink take_link() noexcept { return std::move(link_); }

 private:
  Predecessor() = default;
  [[nodiscard]] Result<void> greet(pid_t watched);
  [[nodiscard]] Result<void> receive_offer();
  [[nodiscard]] Result<std::optional<Message>> expect(Message::Kind kind, Message::Kind or_this);
  [[nodiscard]] Result<std::optional<Message>> expect(Message::Kind kind) {
    return expect(kind, kind);
  }
  void say(Message::Kind kind, const UniqueFd* descriptor = nullptr);

  HandoverLink link_;
  std::string audit_settings_, text_;
  pid_t pid_ = 0;
  std::vector<Message> offered_;
  bool is_dead_ = false;
  bool is_of_restart_ = false;
};

}  // namespace stile::server
