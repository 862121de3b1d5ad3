// AskBoard: where requests that a person decides about are entered. Shared by all workers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "acl/decide.h"

namespace stile::session {

// What a person is asked. Everything in it was chosen by the agent, except for the first line.
struct AskQuestion {
  const acl::AgentPolicy& agent;
  acl::Reason reason = acl::Reason::host_not_allowed;
  std::string_view scheme;  // "connect", "http" or "https", as in the log
  std::string_view host;    // canonical
  std::uint16_t port = 0;
  std::string_view method, path;
  std::string_view source;  // of the connection, for the log
  std::uint64_t conn = 0;
};

struct AskTicket {
  enum class State : std::uint8_t {
    none,     // the agent has too many asks open, or the ask is gone
    open,     // not answered yet
    allowed,  // the policy has a grant for it, or had one
    refused,  // a person said no
    expired,  // not answered in time
  };
  State state = State::none;
  std::string id;
  bool is_held = false;  // counted as held until release()
  std::chrono::seconds retry_after{0};
};

// An answer to a request of an agent to Stile itself.
struct AskPage {
  int status = 404;
  std::string body;  // JSON
  std::string id;    // of an open ask that the client waits for; empty: answer at once
  std::chrono::seconds wait{0};
};

struct AskPageRequest {
  const acl::AgentPolicy& agent;
  std::string_view method, path, query, body;
  std::string_view source;
  std::uint64_t conn = 0;
};

class AskBoard {
 public:
  static constexpr std::size_t max_page_body = 4096;

  // Enters the question, or joins the ask that is open for it. Quick: the caller is a worker.
  [[nodiscard]] virtual AskTicket ask(const AskQuestion& question) = 0;
  // What has become of an ask of this agent.
  [[nodiscard]] virtual AskTicket look(const acl::AgentPolicy& agent, const std::string& id) = 0;
  // Counts one more that waits for it; false: as many as may wait already. release() ends it.
  [[nodiscard]] virtual bool hold(const acl::AgentPolicy& agent, const std::string& id) = 0;
  virtual void release(const std::string& agent, const std::string& id) noexcept = 0;
  [[nodiscard]] virtual AskPage page(const AskPageRequest& request) = 0;

 protected:
  ~AskBoard() = default;
};

// Ends a hold when the request that waits is gone, however it ends.
class AskHold {
 public:
  AskHold(AskBoard& board, std::string agent, std::string id)
      : board_{board}, agent_{std::move(agent)}, id_{std::move(id)} {}
  ~AskHold() { board_.release(agent_, id_); }
  AskHold(const AskHold&) = delete;
  AskHold& operator=(const AskHold&) = delete;

 private:
  AskBoard& board_;
  std::string agent_, id_;
};

}  // namespace stile::session
