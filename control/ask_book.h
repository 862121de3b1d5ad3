// AskBook: the questions of all agents that wait for a person, and the answers that are remembered.
// Uses neither clocks nor sockets: the caller gives the time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acl/policy.h"
#include "base/unix_time.h"

namespace stile::control {

struct Ask {
  enum class State : std::uint8_t { open, allowed, refused, expired };

  std::string id, agent;
  acl::Reason reason = acl::Reason::host_not_allowed;  // why it was refused
  std::string scheme, host, method, path;  // of the first request; path and method may be unknown
  std::uint16_t port = 0;
  std::string agent_reason;  // what the agent wrote itself; untrusted, may be empty
  std::string asked_by;      // who asked for the agent; empty: the agent itself
  std::string looks_like;    // an allowed name that the host could be taken for; may be empty
  std::uint64_t count = 0;   // requests that met it
  std::uint32_t held = 0;    // of them, those that wait now
  UnixMicros first_seen = 0;
  UnixMicros expires = 0;  // while it is open: when it runs out; later: when it is forgotten
  State state = State::open;

  // It is about one method and path on a host that is allowed for others.
  [[nodiscard]] bool is_for_one_request() const noexcept;
};
[[nodiscard]] std::string_view text(Ask::State state) noexcept;
[[nodiscard]] std::optional<Ask::State> ask_state_named(std::string_view text) noexcept;

class AskBook {
 public:
  static constexpr std::size_t max_open_per_agent = 16;
  // Asks of others for the agent have places of their own, so that they take none of the agent's.
  static constexpr std::size_t max_open_for_agent = 4;
  static constexpr std::uint32_t max_held_per_agent = 64;
  // Answered ones that are kept for the agent to see, and refusals that are remembered.
  static constexpr std::size_t max_answered_per_agent = 256;
  static constexpr std::chrono::seconds open_for{3600}, remembered_for{600};
  static constexpr std::size_t max_reason_bytes = 256, max_path_bytes = 256, max_method_bytes = 32;

  using Life = std::shared_ptr<const acl::Account>;  // which life of an agent's id it is

  struct Entry {
    const Ask* ask = nullptr;  // null: the agent has too many open; valid until the next change
    bool is_new = false;
    bool is_held = false;
  };
  // Enters a question, or joins the ask that is open or was refused for it. `wants_hold`: the
  // request waits, if it may. `make_id` is called for a new one.
  [[nodiscard]] Entry enter(const Ask& question, const Life& life, bool wants_hold, UnixMicros now,
                            const std::function<std::string()>& make_id);
  [[nodiscard]] const Ask* find(std::string_view agent, const Life& life,
                                std::string_view id) const;
  [[nodiscard]] const Ask* find(std::string_view id) const;
  [[nodiscard]] bool hold(std::string_view agent, const Life& life, std::string_view id);
  void release(std::string_view agent, std::string_view id) noexcept;

  // Of an open ask. `until`: when the answer is forgotten. False: it is not open.
  bool answer(std::string_view id, Ask::State answer, UnixMicros until);
  // Ends what ran out, forgets what is old; returns the asks that ran out.
  [[nodiscard]] std::vector<Ask> expire(UnixMicros now);
  // Forgets the agents that are gone or have a new life; returns their open asks.
  [[nodiscard]] std::vector<Ask> keep_only(
      const std::function<bool(const std::string& agent, const Life& life)>& is_kept);

  // Oldest first. `own`: of one agent only, the answered ones too.
  [[nodiscard]] std::vector<Ask> open() const;
  [[nodiscard]] std::vector<Ask> own(std::string_view agent, const Life& life) const;
  [[nodiscard]] std::vector<Ask> all() const;  // for the state file
  void restore(Ask ask, const Life& life);
  [[nodiscard]] std::map<std::string, std::size_t> open_per_agent() const;
  [[nodiscard]] std::optional<UnixMicros> next_expiry() const;

 private:
  struct AgentAsks {
    Life life;
    std::vector<Ask> asks;
  };
  [[nodiscard]] Ask* find_open(std::string_view id);
  [[nodiscard]] const AgentAsks* of(std::string_view agent, const Life& life) const;

  std::map<std::string, AgentAsks, std::less<>> agents_;
};

}  // namespace stile::control
