// AskService: the asks of all agents, between the workers that hold requests and the people who
// answer.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "audit/log.h"
#include "audit/record.h"
#include "control/ask_book.h"
#include "control/connection.h"
#include "control/live_policy.h"
#include "control/saved_state.h"
#include "proxy/commands/workers.h"
#include "proxy/session/ask_board.h"

namespace stile::commands {

class AskService final : public session::AskBoard {
 public:
  // What became of the asks of one agent, since the start.
  struct Totals {
    std::uint64_t allowed = 0, refused = 0, expired = 0, over_limit = 0;
  };
  // How long people took to answer: counts per bucket, and the sum.
  struct AnswerTimes {
    static constexpr std::array<double, 8> bounds{5, 10, 30, 60, 300, 600, 1800, 3600};
    std::array<std::uint64_t, bounds.size() + 1> counts{};
    double sum = 0;
  };

  explicit AskService(boost::asio::io_context& context) : context_{context}, tick_{context} {}
  AskService(const AskService&) = delete;
  AskService& operator=(const AskService&) = delete;

  // On the threads of the workers.
  [[nodiscard]] session::AskTicket ask(const session::AskQuestion& question) override;
  [[nodiscard]] session::AskTicket look(const acl::AgentPolicy& agent,
                                        const std::string& id) override;
  [[nodiscard]] bool hold(const acl::AgentPolicy& agent, const std::string& id) override;
  void release(const std::string& agent, const std::string& id) noexcept override;
  [[nodiscard]] session::AskPage page(const session::AskPageRequest& request) override;

  // On the main thread.
  void restore(const std::vector<control::SavedAsk>& saved, const control::LivePolicy& policy);
  // `save` is called when the asks have changed.
  void start(audit::Log& log, WorkerPorts workers, std::function<void()> save);
  // Call it before the workers get the policy. A request that was decided by an older one, of an
  // agent that is gone or has begun a new life since, asks nothing: the answer would be a grant for
  // the new one.
  void set_policy(std::shared_ptr<const acl::Snapshot> snapshot);
  // Asks of agents that are gone end, and those that a rule answers by now.
  void policy_changed(const acl::Snapshot& snapshot);
  [[nodiscard]] std::vector<control::SavedAsk> saved(const control::LivePolicy& policy) const;
  [[nodiscard]] std::vector<control::Ask> open() const;
  [[nodiscard]] std::optional<control::Ask> find(const std::string& id) const;
  // While an answer is being made, no other one is taken. False: it is not open, or being answered.
  [[nodiscard]] bool begin_answer(const std::string& id);
  // `until`: how long the answer is remembered. nullopt: the answer failed, and the ask is open.
  void end_answer(const std::string& id, std::optional<control::Ask::State> answer,
                  UnixMicros until);
  // From now on the client gets a line for each change, until it closes.
  void follow(const control::ConnectionPtr& client);
  // Asks on behalf of an agent; nullopt: it has too many open. `actor`: who does, for the log.
  [[nodiscard]] std::optional<control::Ask> ask_for(const control::Ask& question,
                                                    const acl::AgentPolicy& agent,
                                                    std::string_view actor);
  void unfollow(control::Connection& client) { followers_.erase(&client); }

  [[nodiscard]] std::map<std::string, std::size_t> open_per_agent() const;
  [[nodiscard]] std::map<std::string, Totals> totals() const;
  [[nodiscard]] AnswerTimes answer_times() const;

 private:
  // Where a question came from, for the log: a connection of the agent, or the control socket.
  struct AskedBy {
    std::string source;
    std::uint64_t conn = 0;
    std::string actor = {};
  };
  [[nodiscard]] control::AskBook::Entry enter(const control::Ask& question,
                                              const acl::AgentPolicy& agent, bool wants_hold,
                                              AskedBy by);
  [[nodiscard]] session::AskPage page_of_new(const session::AskPageRequest& request);
  void entered(const control::Ask& ask, const AskedBy& by);
  void ended(const control::Ask& ask, control::Ask::State state, std::string_view why);
  void tick();
  void write_line(const audit::Record& record);
  void look_again(const std::string& id);
  void tell(std::string line);

  boost::asio::io_context& context_;
  boost::asio::steady_timer tick_;
  bool is_ticking_ = false;
  audit::Log* log_ = nullptr;
  WorkerPorts workers_;
  std::function<void()> save_ = [] {};
  std::map<control::Connection*, control::ConnectionPtr> followers_;
  std::set<std::string> being_answered_;

  mutable std::mutex mutex_;  // the rest is shared with the workers
  std::shared_ptr<const acl::Snapshot> policy_;
  control::AskBook book_;
  std::set<std::string> touched_;  // asks whose counts have changed since the followers were told
  std::map<std::string, Totals> totals_;
  AnswerTimes times_;
};

// An allowed name that this one could be taken for; empty: none.
[[nodiscard]] std::string imitated_by(const acl::AgentPolicy& agent, std::string_view host);
// The query that an ask is about, to judge it again. The facts of a request inside are kept in
// `facts`, which the query points to.
[[nodiscard]] acl::Query query_of(const control::Ask& ask, const acl::AgentPolicy& agent,
                                  const std::string& port, acl::RequestFacts& facts,
                                  UnixMicros now);

}  // namespace stile::commands
