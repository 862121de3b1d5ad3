// Daemon: a stiled that runs already serves the command, through its control socket.
#include "run/daemon.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "confine/failure.h"

namespace stile::run {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_answer_bytes = 1U << 20U;
constexpr std::chrono::seconds last_lines{2};
// For one answer. A daemon answers in milliseconds unless it is stopped, or is none.
constexpr std::chrono::seconds patience{5};

void set_patience(const UniqueFd& socket, std::chrono::seconds longest) {
  const timeval time{longest.count(), 0};
  // connect(2) waits as long as send(2): there is a backlog that may be full.
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

bool is_timeout(int code) { return code == EAGAIN || code == EWOULDBLOCK; }

Error no_answer() {
  return {"the daemon took the connection but has not answered for " +
          std::to_string(patience.count()) +
          " s, so nothing was run; is it a stiled, and does it run? (systemctl status stiled)"};
}

Result<UniqueFd> connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return Error{path + ": too long for a socket"};
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  set_patience(fd, patience);
  if (!fd ||
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (is_timeout(errno)) return no_answer();
    return confine::failure("cannot reach the daemon at " + path);
  }
  return fd;
}

// One line, with a descriptor if there is one.
Result<void> send_line(const UniqueFd& to, const std::string& line, int descriptor = -1) {
  std::string text = line + '\n';
  iovec part{text.data(), text.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  if (descriptor >= 0) {
    header.msg_control = room.data();
    header.msg_controllen = room.size();
    cmsghdr* extra = CMSG_FIRSTHDR(&header);
    extra->cmsg_level = SOL_SOCKET;
    extra->cmsg_type = SCM_RIGHTS;
    extra->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(extra), &descriptor, sizeof descriptor);
  }
  // A request is smaller than a socket's buffer, so that it goes as a whole.
  const auto sent = ::sendmsg(to.get(), &header, MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(text.size())) return {};
  if (sent >= 0 || is_timeout(errno)) return no_answer();
  return confine::failure("cannot ask the daemon");
}

// Up to the newline, byte by byte: what follows belongs to another reader.
Result<void> read_answer(const UniqueFd& from) {
  std::string line;
  char c = 0;
  while (line.size() < most_answer_bytes) {
    const auto size = ::recv(from.get(), &c, 1, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && is_timeout(errno)) return no_answer();
    if (size <= 0) return Error{"the daemon has closed the connection"};
    if (c == '\n') break;
    line += c;
  }
  const auto answer = Json::parse(line, nullptr, false);
  if (!answer.is_object()) return Error{"the daemon's answer cannot be read"};
  if (answer.value("ok", false)) return {};
  const auto error = answer.value("error", Json::object());
  return Error{"the daemon refuses: " + error.value("message", std::string{"(no reason)"})};
}

Result<void> ask(const UniqueFd& daemon, const Json& request, int descriptor = -1) {
  if (auto sent = send_line(daemon, request.dump(), descriptor); !sent) return sent;
  return read_answer(daemon);
}

Result<std::string> random_id() {
  std::array<std::uint8_t, 6> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return confine::failure("cannot make an id");
  }
  std::string id = "run-";
  for (const auto byte : bytes) {
    std::array<char, 3> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", byte);
    id += hex.data();
  }
  return Result<std::string>{boost::system::in_place_value, std::move(id)};
}

void append(Json& card, const char* name, const char* other_name,
            const std::vector<std::string>& patterns) {
  if (patterns.empty()) return;
  auto& list = card[card.contains(other_name) ? other_name : name];
  if (!list.is_array()) list = Json::array();
  for (const auto& pattern : patterns) list.push_back(pattern);
}

// The card as it was written, with the flags in it. Its values were checked already.
Result<Json> make_card(const Options& options) {
  auto card = Json::object();
  if (options.card) {
    std::ifstream file{*options.card};
    std::ostringstream text;
    text << file.rdbuf();
    card = Json::parse(text.str(), nullptr, false);
    if (!card.is_object()) return Error{*options.card + ": not a card"};
  } else {
    const auto id = random_id();
    if (!id) return id.error();
    card["agent_id"] = *id;
  }
  append(card, "allowed_hosts", "allow", options.allow);
  append(card, "denied_hosts", "deny", options.deny);
  if (card.value("ech", Json{}) != "allow") append(card, "ech", "ech", options.ech);
  if (options.observe) card["mode"] = "observe";
  return Result<Json>{boost::system::in_place_value, std::move(card)};
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::open(const Options& options, Summary& summary) {
  const auto card = make_card(options);
  if (!card) return card.error();
  Connections connections;
  for (auto* one : {&connections.adoption, &connections.tail, &connections.other}) {
    auto connected = connect_to(*options.connect);
    if (!connected) return connected.error();
    *one = std::move(*connected);
  }
  set_patience(connections.other, last_lines);
  const auto agent = card->contains("agent_id") ? "agent_id" : "id";
  return std::unique_ptr<Daemon>{
      new Daemon{card->dump(), card->value(agent, std::string{}), std::move(connections), summary}};
}

Daemon::Daemon(std::string card, std::string agent, Connections connections, Summary& summary)
    : card_{std::move(card)},
      agent_{std::move(agent)},
      to_{std::move(connections)},
      summary_{summary} {}

Result<void> Daemon::serve(UniqueFd listener) {
  const Json adopt{{"action", "adopt-listener"}, {"card", Json::parse(card_)}};
  if (auto done = ask(to_.adoption, adopt, listener.get()); !done) return done;
  const Json tail{{"action", "tail"}, {"agent", agent_}};
  if (auto done = ask(to_.tail, tail); !done) return done;
  set_patience(to_.tail, {});  // from here on lines come when something happens
  reader_ = std::thread{[this] { read_tail(); }};
  return {};
}

void Daemon::read_tail() {
  std::string pending;
  std::array<char, 16384> buffer{};
  while (true) {
    const auto size = ::recv(to_.tail.get(), buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    pending.append(buffer.data(), static_cast<std::size_t>(size));
    const auto end = pending.rfind('\n');
    if (end == std::string::npos) {
      if (pending.size() > most_answer_bytes) return;
      continue;
    }
    summary_.add(std::string_view{pending}.substr(0, end + 1));
    pending.erase(0, end + 1);
  }
}

Daemon::~Daemon() {
  try {
    stop();
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "stile: %s\n", problem.what());
  }
}

void Daemon::stop() {
  if (!reader_.joinable()) return;
  to_.adoption.reset();  // the agent goes, and what it has open with it
  summary_.wait_until_closed(last_lines);
  // An answer comes after all lines that were there before the question; what has arrived can still
  // be read after the shutdown.
  static_cast<void>(ask(to_.other, Json{{"action", "ping"}}));
  ::shutdown(to_.tail.get(), SHUT_RDWR);
  reader_.join();
}

}  // namespace stile::run
