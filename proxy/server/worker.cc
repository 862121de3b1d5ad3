// Worker: one thread with its own loop, listeners, resolver and counters.
#include "proxy/server/worker.h"

#include <pthread.h>
#include <sys/socket.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <utility>

#include "proxy/base/log.h"
#include "proxy/server/sandbox.h"

namespace stile::server {
namespace {

constexpr std::chrono::milliseconds last_words{500};
constexpr std::chrono::milliseconds most_judging{1000};
// How much a change may do on a worker before other connections go first. Cutting off a client
// costs 5 µs, closing both sides with the line in the log 15. Each cut is also an event, and the
// loop takes 256 of those per turn: with more cuts, other events would queue up behind them.
constexpr std::size_t taken_at_once = 128;

}  // namespace

Worker::Worker(session::Shared& shared, audit::Log& log, const Options& options)
    : context_{loop_,
               shared,
               log,
               options.dns,
               options.dns_environment,
               options.limits,
               options.own_addresses} {
  context_.next_conn = options.index + 1;
  context_.conn_step = options.count;
}

Worker::~Worker() { stop(); }

void Worker::listen(UniqueFd listener, std::optional<std::string> agent) {
  const auto fd = std::make_shared<UniqueFd>(std::move(listener));
  on_loop([this, fd, agent = std::move(agent)] {
    acceptors_.push_back(std::make_unique<session::Acceptor>(context_, std::move(*fd), agent));
  });
}

void Worker::capture(UniqueFd listener, std::optional<std::string> agent,
                     const acl::Address& name_server) {
  const auto fd = std::make_shared<UniqueFd>(std::move(listener));
  on_loop([this, fd, agent = std::move(agent), name_server] {
    acceptors_.push_back(
        std::make_unique<session::Acceptor>(context_, std::move(*fd), agent, nullptr, name_server));
  });
}

void Worker::answer_questions(UniqueFd socket, std::optional<std::string> agent) {
  const bool is_elsewhere = agent && session::is_in_another_namespace(socket.get());
  const auto fd = std::make_shared<UniqueFd>(std::move(socket));
  on_loop([this, fd, agent = std::move(agent), is_elsewhere] {
    name_sockets_.push_back(std::make_unique<session::NameSocket>(
        context_, std::move(*fd), session::Audience{agent, is_elsewhere}));
  });
}

void Worker::on_loop(std::function<void()> work) {
  if (thread_.joinable()) {
    loop_.post(std::move(work));
  } else {
    work();
  }
}

void Worker::start() {
  thread_ = std::thread{[this] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);  // the main thread handles signals
    if (auto confined = confine_worker(); !confined) {
      log::error(confined.error().message);
      std::abort();  // nothing is served outside the sandbox
    }
    loop_.run([this] {
      // Not posted: a pass must continue also when memory is short.
      if (round_.is_linked()) judge_some();
      const bool is_moving = next_move_.is_due && move_some();
      const bool has_lines = context_.audit.flush();
      return has_lines || is_moving || round_.is_linked();
    });
  }};
}

void Worker::stop() {
  if (!thread_.joinable()) return;
  loop_.post([this] {
    acceptors_.clear();
    name_sockets_.clear();
    lent_.clear();
    for (auto it = context_.live.begin(); it != context_.live.end();) (it++)->end();
    give_up_ = loop_.now() + last_words;
    on_deadline();
  });
  thread_.join();
}

// Ended requests still write their line and their answer, within bounds.
void Worker::on_deadline() {
  if (context_.live.empty() || loop_.now() >= give_up_) {
    loop_.stop();
  } else {
    loop_.arm(*this, std::chrono::milliseconds{10});
  }
}

void Worker::post(std::function<void(session::Context&)> work) {
  loop_.post([this, work = std::move(work)] { work(context_); });
}

void Worker::change_dns(const dns::ResolverOptions& options, const dns::Environment& environment) {
  auto channels = std::make_shared<dns::Resolver::Channels>(
      context_.resolver.open_channels(options, environment));
  post([options, environment, channels](session::Context& context) {
    context.resolver.change(options, environment, std::move(*channels));
  });
}

void Worker::judge_again(bool all) {
  {
    const std::lock_guard lock{judged_mutex_};
    ++asked_;
  }
  const int wanted = all ? 2 : 1;
  int before = judging_.load();
  while (before < wanted && !judging_.compare_exchange_weak(before, wanted)) {
  }
  if (before != 0) return;  // the pending one sees the newest snapshot
  loop_.post([this] { start_judging(judging_.exchange(0) == 2); });
}

void Worker::wait_until_judged(std::chrono::milliseconds most) {
  if (!thread_.joinable()) return;
  std::unique_lock lock{judged_mutex_};
  judged_changed_.wait_for(lock, most, [this, wanted = asked_] { return judged_ >= wanted; });
}

void Worker::lend(std::uint64_t number, UniqueFd listener, std::string agent) {
  const auto fd = std::make_shared<UniqueFd>(std::move(listener));
  loop_.post([this, number, fd, agent = std::move(agent)] {
    auto is_served = std::make_shared<bool>(true);
    auto acceptor = std::make_unique<session::Acceptor>(context_, std::move(*fd), agent, is_served);
    lent_[number] = {std::move(is_served), std::move(acceptor), nullptr};
  });
}

void Worker::lend_capture(std::uint64_t number, UniqueFd socket, std::string agent,
                          const acl::Address& name_server) {
  const auto fd = std::make_shared<UniqueFd>(std::move(socket));
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(fd->get(), SOL_SOCKET, SO_TYPE, &type, &size) != 0) return;
  loop_.post([this, number, fd, type, agent = std::move(agent), name_server] {
    LentListener lent{std::make_shared<bool>(true), nullptr, nullptr};
    if (type == SOCK_DGRAM) {
      lent.names = std::make_unique<session::NameSocket>(context_, std::move(*fd),
                                                         session::Audience{agent, true});
    } else {
      lent.acceptor = std::make_unique<session::Acceptor>(context_, std::move(*fd), agent,
                                                          lent.is_served, name_server);
    }
    lent_[number] = std::move(lent);
  });
}

void Worker::release(std::uint64_t number) {
  loop_.post([this, number] {
    const auto found = lent_.find(number);
    if (found == lent_.end()) return;
    *found->second.is_served = false;
    lent_.erase(found);
    start_judging(true);
  });
}

// Everything open is judged by the newest policy. A running pass is finished before the next one
// begins, so that constant changes leave no connection out.
void Worker::start_judging(bool all) {
  const bool is_under_way = round_.is_linked();
  round_.all = all || (is_under_way && round_.all);
  if (is_under_way && round_.is_judging) {
    round_.again = true;
    return;
  }
  round_.is_judging = true;
  round_.unlink();
  begin_pass();
  if (!is_under_way) judge_some();
}

void Worker::begin_pass() {
  {
    const std::lock_guard lock{judged_mutex_};
    if (round_.is_judging) round_.number = asked_;
  }
  context_.live.push_front(round_);
}

// Judges one slice; then the other connections are served.
void Worker::judge_some() {
  const auto snapshot = context_.policy.get();
  for (std::size_t left = taken_at_once; left > 0; --left) {
    const auto next = std::next(context_.live.iterator_to(round_));
    if (next == context_.live.end()) return end_pass(*snapshot);
    session::Live& live = *next;
    round_.unlink();
    context_.live.insert(std::next(context_.live.iterator_to(live)), round_);
    if (!round_.is_judging) {
      live.close_if_cut();
      continue;
    }
    try {
      live.judge_again(*snapshot, round_.all);
    } catch (const std::exception&) {
      live.end();  // no memory to find out whether it is still allowed
    }
  }
}

void Worker::end_pass(const acl::Snapshot& snapshot) {
  round_.unlink();
  if (std::exchange(round_.is_judging, std::exchange(round_.again, false))) {
    return begin_pass();  // once more, to judge again or to close what was cut
  }
  {
    const std::lock_guard lock{judged_mutex_};
    judged_ = round_.number;
  }
  judged_changed_.notify_all();
  // Counters of removed agents are dropped with their last connection.
  std::erase_if(context_.tallies, [&](const auto& entry) {
    return entry.first != "-" && entry.second.use_count() == 1 && !snapshot.has_name(entry.first);
  });
}

void judge_now(const Workers& workers) {
  for (const auto& worker : workers) worker->judge_again(false);
  for (const auto& worker : workers) worker->wait_until_judged(most_judging);
}

commands::WorkerPorts ports_of(const Workers& workers) {
  commands::WorkerPorts ports;
  for (const auto& worker : workers) ports.push_back(worker.get());
  return ports;
}

}  // namespace stile::server
