// Server, leaving: another process serves. Tunnels go to it; what cannot move is served to its end.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "control/budget_share.h"
#include "proxy/base/log.h"
#include "proxy/server/server.h"

namespace stile::server {
namespace {

using Kind = Message::Kind;
using Step = Taker::Step;
using std::chrono::milliseconds, std::chrono::steady_clock;

// For the last answers of the other process.
constexpr milliseconds time_to_answer{1000};

}  // namespace

void Server::leave(std::string config_digest) {
  taker_->step = Step::gone;
  taker_->deadline.cancel();
  // The last that systemd hears from here.
  if (!front_.keeper.has_left_to(taker_->main_pid)) {
    notify("MAINPID=" + std::to_string(taker_->main_pid));
  }
  if (outliving_) outliving_->close();
  shared_->leaving = true;
  for (auto& worker : workers_) worker->leave();
  log::info("handed over to process " + std::to_string(taker_->pid) +
            "; what cannot move is served to its end here");
  if (admin_) admin_->stop_accepting();
  card_watch_.watch({});
  give_back_budgets();
  for (auto& client : control_->take_idle()) {
    Message message;
    message.kind = Kind::client;
    message.flag = client.may_change;
    message.other_flag = client.idle.is_at_end;
    message.text = std::move(client.idle.unread);
    const int fd = client.idle.socket.get();
    static_cast<void>(taker_->link.send(message, {{fd}}));
  }
  control_->leave([this](control::Connection& client) { return service_->is_lender(client); });
  editor_->leave([this] { refill_from_taker(); });
  Message changed;
  changed.kind = Kind::changed;
  changed.text = std::move(config_digest);
  follow_taker(changed);
  drain_until_ = steady_clock::now() + settings().limits.drain_timeout;
  await_left();
}

void Server::serve_taker(const Message& message) {
  switch (message.kind) {
    case Kind::drawn:
      if (taker_->draws > 0) --taker_->draws;
      control::receive(editor_->policy(), budget_of(message), {message.first, message.flag});
      return wake_paused();
    case Kind::taken:
      taker_->taken = message.first;
      if (std::exchange(taker_->is_taking, true)) return;
      for (auto& worker : workers_) worker->hand_over_to(*taker_);
      return;
    case Kind::changed:
      return follow_taker(message);
    default:
      return log::error("the process that took over said something unexpected");
  }
}

// The policy of the other process also binds what is left here, and in a process before this one.
void Server::follow_taker(const Message& changed) {
  if (inheritance_) static_cast<void>(inheritance_->link.send(changed));
  taker_->changed.insert(changed.list.begin(), changed.list.end());
  taker_->all_changed |= changed.flag;
  judge_left();
  if (changed.text.empty()) return;
  editor_->follow(changed.text, [this](bool is_followed) {
    if (is_followed) return;
    log::warning("the config is not the one of the new process: what is left here is cut");
    taker_->all_changed = true;
    judge_left();
  });
}

// Agents whose policy has changed in the other process are not part of the policy here any more, so
// all that is theirs is revoked.
void Server::judge_left() {
  std::vector<std::shared_ptr<const acl::AgentPolicy>> left;
  const auto& snapshot = *editor_->policy().snapshot();
  for (const auto& agent : snapshot.agents()) {
    if (!taker_->all_changed && taker_->changed.count(agent->id) == 0) left.push_back(agent);
  }
  shared_->policy.swap(
      std::make_shared<const acl::Snapshot>(snapshot.generation(), std::move(left)));
  for (auto& worker : workers_) worker->judge_again(true);
}

void Server::refill_from_taker() {
  send_debts();
  control::each_budget(editor_->policy(), [this](const control::BudgetKey& key,
                                                 const acl::Allowance& allowance,
                                                 std::int64_t step) {
    if (!allowance.is_asked_for()) return;
    Message draw;
    draw.kind = Kind::draw;
    draw.agent = key.agent;
    draw.name = key.part;
    draw.second = static_cast<std::uint64_t>(key.count);
    draw.first = static_cast<std::uint64_t>(std::max<std::int64_t>(step - allowance.ready(), 1));
    if (taker_->link.send(draw)) ++taker_->draws;
  });
}

// What was drawn at the very end is given back as well.
void Server::await_drawn() {
  while (taker_->draws > 0) {
    const auto received = taker_->link.receive(time_to_answer);
    if (!received.message) return;
    if (received.message->kind == Kind::drawn) serve_taker(*received.message);
  }
}

void Server::give_back_budgets() {
  control::each_budget(editor_->policy(), [this](const control::BudgetKey& key,
                                                 acl::Allowance& allowance, std::int64_t) {
    const std::int64_t unused = allowance.reclaim();
    if (unused <= 0) return;
    Message back;
    back.kind = Kind::give_back;
    back.agent = key.agent;
    back.name = key.part;
    back.second = static_cast<std::uint64_t>(key.count);
    back.first = static_cast<std::uint64_t>(unused);
    static_cast<void>(taker_->link.send(back));
  });
  send_debts();
}

// Tokens that answers reported beyond what was reserved for them, since the state was saved: the
// other process pays.
void Server::send_debts() {
  control::each_host(editor_->policy(), [this](const std::string& agent, acl::HostUsage& usage,
                                               const std::string& host) {
    const std::int64_t owed = usage.take_debt();
    if (owed == 0) return;
    Message message;
    message.kind = owed > 0 ? Kind::owe : Kind::give_back;
    message.agent = agent;
    message.name = host;
    message.first = static_cast<std::uint64_t>(std::abs(owed));
    message.second = control::BudgetKey::last_count;  // tokens
    static_cast<void>(taker_->link.send(message));
  });
}

// What a process before this one still serves needs this one, too.
void Server::await_left() {
  const bool is_empty = shared_->connections == 0 && !inheritance_;
  if (is_empty || steady_clock::now() >= drain_until_) return stop();
  drain_poll_.expires_after(milliseconds{20});
  drain_poll_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) await_left();
  });
}

}  // namespace stile::server
