// Server, handing over: sockets, state and log go to the process that takes over. Until that has
// said that it serves, this one can go on as if nothing had happened.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/unix_time.h"
#include "control/budget_share.h"
#include "proxy/base/log.h"
#include "proxy/server/server.h"
#include "proxy/server/version.h"

namespace stile::server {
namespace {

namespace asio = boost::asio;
using Kind = Message::Kind;
using Step = Taker::Step;
using std::chrono::milliseconds;

// For everything until the other process serves; most of it is the reading of its config.
constexpr std::chrono::seconds time_to_take_over{30};
// For the moment in which no line is written.
constexpr milliseconds time_to_commit{1000};

// Numbers of connections that are left to this process.
constexpr std::uint64_t lent_room = 1'000'000;

}  // namespace

Taker::Taker(asio::io_context& context, UniqueFd socket, int taker_pid)
    : link{std::move(socket)},
      events{context, ::fcntl(link.fd(), F_DUPFD_CLOEXEC, 0)},
      deadline{context},
      pid{taker_pid} {}

bool Taker::has_room() const noexcept { return sent - taken < most_on_the_way && link.has_room(); }

bool Taker::send(const session::FrozenTunnel& tunnel) {
  Message message;
  message.kind = Kind::tunnel;
  message.text = session::pack(tunnel);
  ++sent;
  return link.send(message, session::descriptors_of(tunnel));
}

void Server::offer(SocketRole role, const std::string& name, const std::string& agent,
                   std::vector<int> descriptors) {
  if (!descriptors.empty()) offered_.push_back({role, name, agent, std::move(descriptors)});
}

control::Outcome<void> Server::hand_over(UniqueFd link, int pid) {
  const auto refuse = [](std::string why) {
    return control::Failure{control::ErrorCode::conflict, std::move(why)};
  };
  if (taker_) return refuse("another process is taking over");
  if (shared_->draining) return refuse("the daemon is draining");
  taker_ = std::make_unique<Taker>(context_, std::move(link), pid);
  taker_->deadline.expires_after(time_to_take_over);
  taker_->deadline.async_wait([this](const boost::system::error_code& ec) {
    if (!ec && taker_ && taker_->step != Step::gone) stay("it took too long");
  });
  watch_taker();
  return boost::system::in_place_value;
}

void Server::watch_taker() {
  taker_->events.async_wait(asio::posix::descriptor_base::wait_read,
                            [this](const boost::system::error_code& ec) {
                              if (ec || !taker_) return;
                              auto received = taker_->link.receive({});
                              if (received.message) {
                                on_taker(std::move(*received.message));
                              } else if (received.is_closed && taker_->step == Step::gone) {
                                log::error("the process that took over has ended");
                                return stop();
                              } else if (received.is_closed) {
                                stay("it has ended");
                              } else if (!received.problem.empty() && taker_->step == Step::gone) {
                                log::error(received.problem);  // there is no way back
                              } else if (!received.problem.empty()) {
                                stay(received.problem);
                              }
                              if (taker_) watch_taker();
                            });
}

// It goes on serving as before.
void Server::stay(const std::string& why) {
  log::warning("not handed over to process " + std::to_string(taker_->pid) + ": " + why);
  Message refuse;
  refuse.kind = Kind::refuse;
  refuse.text = why;
  static_cast<void>(taker_->link.send(refuse));
  const Step step = taker_->step;
  taker_.reset();
  if (step == Step::committing) {
    shared_->names.write_again();
    for (auto& worker : workers_) worker->hold_doors(false);
  }
  if (step >= Step::frozen) editor_->thaw();
  if (step >= Step::freezing) control_->pause(false);
}

void Server::on_taker(Message message) {
  switch (taker_->step) {
    case Step::met:
      return message.kind == Kind::hello ? send_offer(message) : stay("it does not begin");
    case Step::offered:
      if (message.kind == Kind::give_way && taker_->is_successor) return give_way();
      if (message.kind != Kind::freeze) return stay("it said something unexpected");
      taker_->step = Step::freezing;
      control_->pause(true);
      return editor_->freeze([this, taker = taker_.get()](bool is_frozen) {
        const bool is_wanted = taker_ && taker_.get() == taker && taker_->step == Step::freezing;
        if (!is_wanted) {
          if (is_frozen) editor_->thaw();
          return;
        }
        if (!is_frozen) return stay("a change of the policy is not on disk yet");
        taker_->step = Step::frozen;
        Message frozen;
        frozen.kind = Kind::frozen;
        if (!taker_->link.send(frozen)) stay("it has ended");
      });
    case Step::frozen:
      if (message.kind != Kind::ready || message.descriptors.size() != 1) {
        return stay("it said something unexpected");
      }
      taker_->lines = std::move(message.descriptors[0]);
      taker_->step = Step::committing;
      for (auto& worker : workers_) worker->hold_doors(true);
      return commands::gather<std::uint64_t>(
          context_, workers_, [](session::Context& context) { return context.next_conn; },
          [this, taker = taker_.get()](const std::vector<std::uint64_t>& next) {
            if (!taker_ || taker_.get() != taker) return;
            if (next.size() != workers_.size()) return stay("a worker does not answer");
            // Lent listeners accept here for a while.
            const std::uint64_t room = service_->has_lenders() ? lent_room : 0;
            commit_to_taker(*std::max_element(next.begin(), next.end()) + room);
          });
    case Step::freezing:
    case Step::committing:
      return stay("it said something unexpected");
    case Step::gone:
      return serve_taker(message);
  }
}

void Server::send_offer(const Message& hello) {
  const std::uint64_t format = common_format(hello.first, hello.second);
  if (format == 0) {
    return stay("it hands over in formats " + std::to_string(hello.first) + " to " +
                std::to_string(hello.second) + ", this daemon in " + std::to_string(oldest_format) +
                " to " + std::to_string(newest_format) + "; stop this one and start the other");
  }
  // It would start another daemon when this one ends, beside one that it knows nothing of.
  const auto run = service_run();
  if (!run.empty() && hello.text != run && !taker_->is_successor) {
    return stay("systemd runs this daemon; to upgrade it: systemctl reload stiled");
  }
  if (const int watched = std::atoi(hello.agent.c_str()); watched > 1) taker_->main_pid = watched;
  if (!log_->healthy()) return stay("the audit log cannot be written");
  static_cast<void>(log_->reopen());  // a log that was renamed goes on under its name
  Message offered;
  offered.kind = Kind::offer;
  offered.first = format;
  offered.second = static_cast<std::uint64_t>(::getpid());
  offered.name = version;
  offered.text = audit_text();
  bool is_sent = taker_->link.send(offered);
  const auto send = [&](SocketRole role, const std::string& name, const std::string& agent,
                        const std::vector<int>& descriptors) {
    Message socket;
    socket.kind = Kind::socket;
    socket.first = static_cast<std::uint64_t>(role);
    socket.name = name;
    socket.agent = agent;
    is_sent = is_sent && taker_->link.send(socket, descriptors);
  };
  for (const auto& one : offered_) send(one.role, one.name, one.agent, one.descriptors);
  for (const auto& door : control_->doors()) {
    send(door.may_change ? SocketRole::control : SocketRole::read_only_control, "", "", {door.fd});
  }
  if (const int lock = editor_->state_lock(); lock >= 0)
    send(SocketRole::state_lock, "", "", {lock});
  if (const int file = log_->descriptor(); file >= 0) send(SocketRole::audit_log, "", "", {file});
  Message end;
  end.kind = Kind::offered;
  if (!is_sent || !taker_->link.send(end)) return stay("it has ended");
  taker_->step = Step::offered;
}

// New connections wait in the kernel, and no line is written, until the other process has said that
// it serves. If it dies before, this one goes on.
void Server::commit_to_taker(std::uint64_t next_conn) {
  if (!log_->healthy()) return stay("the audit log cannot be written");
  send_minutes();
  const auto head = log_->hold();
  Message commit;
  commit.kind = Kind::commit;
  commit.first = next_conn;
  commit.second = head.seq;
  commit.text = head.hash;
  HandoverLink::Received answer;
  if (taker_->link.send(commit)) answer = taker_->link.receive(time_to_commit);
  const bool is_late = !answer.message && !answer.is_closed && answer.problem.empty();
  if (is_late) answer = taker_->link.receive_last();
  if (!answer.message || answer.message->kind != Kind::serving) {
    log_->let_go();
    return stay(is_late ? "it did not answer in time" : "it has ended");
  }
  log_->relay_to(std::move(taker_->lines));
  leave(std::move(answer.message->text));
}

// The minutes of `requests_per_minute` that are not over yet.
void Server::send_minutes() {
  const auto now = unix_micros();
  control::each_host(editor_->policy(),
                     [&](const std::string& agent, acl::HostUsage& usage, const std::string& host) {
                       if (usage.minute.used(now) == 0) return;
                       const auto saved = usage.minute.saved();
                       Message minute;
                       minute.kind = Kind::minute;
                       minute.agent = agent;
                       minute.name = host;
                       minute.first = saved.start;
                       minute.second = saved.count;
                       static_cast<void>(taker_->link.send(minute));
                     });
}

}  // namespace stile::server
