// Predecessor: the running daemon that this process takes over from.
#include "proxy/server/predecessor.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/system_error.h"
#include "control/client.h"
#include "proxy/base/log.h"
#include "proxy/server/upgrade.h"
#include "proxy/server/version.h"

namespace stile::server {
namespace {

// The other daemon may have a change to finish first.
constexpr std::chrono::seconds step_time{20};

using Kind = Message::Kind;

Error refused(const std::string& why) {
  return {"the running daemon goes on serving and was not taken over: " + why};
}

}  // namespace

Result<std::unique_ptr<Predecessor>> Predecessor::find(const std::string& control_path,
                                                       pid_t watched) {
  auto client = control::ControlClient::connect(control_path, {});
  if (!client) {
    if (client.error().kind == control::ClientError::Kind::absent) {
      return std::unique_ptr<Predecessor>{};
    }
    return Error{client.error().message};
  }
  auto pair = HandoverLink::make();
  if (!pair) return pair.error();
  std::unique_ptr<Predecessor> self{new Predecessor};
  self->link_ = std::move(pair->first);
  const auto answer = client->ask(R"({"action":"take-over"})", pair->second.get());
  pair->second.reset();
  if (!answer) return Error{answer.error().message};
  if (!control::is_ok(*answer)) return refused(*answer);
  if (auto greeted = self->greet(watched); !greeted) return greeted.error();
  return self;
}

Result<std::unique_ptr<Predecessor>> Predecessor::meet(const HandoverLink& rendezvous) {
  auto pair = HandoverLink::make();
  if (!pair) return pair.error();
  std::unique_ptr<Predecessor> self{new Predecessor};
  self->link_ = std::move(pair->first);
  self->is_of_restart_ = true;
  Message meet;
  meet.kind = Kind::meet;
  const int other = pair->second.get();
  if (!rendezvous.send(meet, {&other, 1})) return std::unique_ptr<Predecessor>{};
  pair->second.reset();
  // systemd watches the process that it has started.
  if (auto greeted = self->greet(0); !greeted) return greeted.error();
  return self;
}

Result<void> Predecessor::greet(pid_t watched) {
  Message hello;
  hello.kind = Kind::hello;
  hello.first = oldest_format;
  hello.second = newest_format;
  hello.name = version;
  hello.text = service_run();
  if (watched > 0) hello.agent = std::to_string(watched);
  if (!link_.send(hello)) return refused("it has closed the connection");
  return receive_offer();
}

Result<void> Predecessor::receive_offer() {
  auto offer = expect(Kind::offer);
  if (!offer) return offer.error();
  if (!*offer) return refused("it has ended");
  if (common_format((*offer)->first, (*offer)->first) == 0) {
    return refused("it chose a format that this program does not know");
  }
  audit_settings_ = std::move((*offer)->text);
  pid_ = static_cast<pid_t>((*offer)->second);
  text_ = "stiled " + (*offer)->name + ", pid " + std::to_string((*offer)->second);
  for (;;) {
    auto received = link_.receive(step_time);
    if (!received.message) return refused("its offer has no end");
    if (received.message->kind == Kind::offered) return {};
    if (received.message->kind != Kind::socket || received.message->first > last_role) {
      return refused("its offer is malformed");
    }
    offered_.push_back(std::move(*received.message));
  }
}

// nullopt: it died.
Result<std::optional<Message>> Predecessor::expect(Kind kind, Kind or_this) {
  auto received = link_.receive(step_time);
  if (received.is_closed) {
    is_dead_ = true;
    return std::optional<Message>{};
  }
  if (!received.message) {
    return refused(received.problem.empty() ? "it does not answer" : received.problem);
  }
  if (received.message->kind == Kind::refuse) return refused(received.message->text);
  if (received.message->kind != kind && received.message->kind != or_this) {
    return refused("it said something unexpected");
  }
  return std::move(received.message);
}

void Predecessor::say(Kind kind, const UniqueFd* descriptor) {
  Message message;
  message.kind = kind;
  std::vector<int> descriptors;
  if (descriptor != nullptr) descriptors.push_back(descriptor->get());
  // If it is gone, expect() notices.
  static_cast<void>(link_.send(message, descriptors));
}

std::vector<UniqueFd> Predecessor::take(SocketRole role, const std::string& name,
                                        const std::string& agent) {
  const auto found = std::find_if(offered_.begin(), offered_.end(), [&](const Message& offer) {
    return offer.first == static_cast<std::uint64_t>(role) && offer.name == name &&
           offer.agent == agent;
  });
  if (found == offered_.end()) return {};
  auto sockets = std::move(found->descriptors);
  offered_.erase(found);
  return sockets;
}

std::vector<Predecessor::Passed> Predecessor::take_passed() {
  std::vector<Passed> all;
  for (auto& offer : offered_) {
    const auto role = static_cast<SocketRole>(offer.first);
    if (role != SocketRole::passed_listener && role != SocketRole::passed_agent_listener) continue;
    Passed passed{offer.name, std::nullopt, std::move(offer.descriptors)};
    if (role == SocketRole::passed_agent_listener) passed.agent = offer.agent;
    all.push_back(std::move(passed));
  }
  return all;
}

Result<void> Predecessor::give_way() {
  const UniqueFd process{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0))};
  if (!process) return system_error("pidfd_open");
  say(Kind::give_way);
  // Longer than systemd waits for the start of a service.
  const auto received = link_.receive(std::chrono::hours{1});
  if (received.message) return refused(received.message->text);
  // Its locks are free when all of it has ended.
  pollfd end{process.get(), POLLIN, 0};
  while (::poll(&end, 1, -1) < 0 && errno == EINTR) {
  }
  return {};
}

Result<void> Predecessor::freeze() {
  say(Kind::freeze);
  auto frozen = expect(Kind::frozen);
  if (!frozen) return frozen.error();
  return {};
}

Result<Predecessor::Commitment> Predecessor::commit(const UniqueFd& lines) {
  Commitment commitment;
  if (is_dead_) return commitment;
  say(Kind::ready, &lines);
  for (;;) {
    auto received = expect(Kind::commit, Kind::minute);
    if (!received) return received.error();
    if (!*received) return commitment;
    Message& message = **received;
    if (message.kind == Kind::commit) {
      commitment.next_conn = message.first;
      commitment.head = {message.second, std::move(message.text)};
      return commitment;
    }
    commitment.minutes.push_back(
        {std::move(message.agent), std::move(message.name), {message.first, message.second}});
  }
}

Result<void> Predecessor::serve(const std::string& config_digest) {
  if (is_dead_) return {};
  Message serving;
  serving.kind = Kind::serving;
  serving.text = config_digest;
  if (link_.send(serving)) return {};
  const auto refusal = expect(Kind::refuse);  // or it has died
  if (!refusal) return refusal.error();
  return {};
}

}  // namespace stile::server
