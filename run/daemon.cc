// Daemon: a running stiled serves the command, through its control socket.
#include "run/daemon.h"

#include <sys/random.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "confine/failure.h"

namespace stile::run {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::seconds last_lines{2};
// A daemon answers in milliseconds unless it is stopped.
constexpr control::Client::Bounds client_bounds{std::chrono::seconds{5}, std::size_t{1} << 20U};

Result<void> ask(control::Client& daemon, const Json& request, int descriptor = -1) {
  const auto line = daemon.ask(request.dump(), descriptor);
  if (!line) return Error{line.error().message + "; nothing was run"};
  const auto answer = Json::parse(*line, nullptr, false);
  if (!answer.is_object()) return Error{"the daemon's answer cannot be read"};
  if (answer.value("ok", false)) return {};
  const auto error = answer.value("error", Json::object());
  return Error{"the daemon refuses: " + error.value("message", std::string{"(no reason)"})};
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

// The original card with the flags added. Its values are already checked.
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
  std::vector<control::Client> connections;
  for (int i = 0; i < 3; ++i) {
    auto connected = control::Client::connect(*options.connect, client_bounds);
    if (!connected) return Error{connected.error().message};
    connections.push_back(std::move(*connected));
  }
  const auto agent = card->contains("agent_id") ? "agent_id" : "id";
  return std::unique_ptr<Daemon>{
      new Daemon{card->dump(), card->value(agent, std::string{}), std::move(connections), summary}};
}

Daemon::Daemon(std::string card, std::string agent, std::vector<control::Client> connections,
               Summary& summary)
    : card_{std::move(card)},
      agent_{std::move(agent)},
      adoption_{std::move(connections[0])},
      tail_{std::move(connections[1])},
      questions_{std::move(connections[2])},
      summary_{summary} {}

Result<void> Daemon::serve(UniqueFd listener) {
  const Json adopt{{"action", "adopt-listener"}, {"card", Json::parse(card_)}};
  if (auto done = ask(*adoption_, adopt, listener.get()); !done) return done;
  const Json tail{{"action", "tail"}, {"agent", agent_}};
  if (auto done = ask(tail_, tail); !done) return done;
  reader_ = std::thread{[this] { read_tail(); }};
  return {};
}

void Daemon::read_tail() {
  while (true) {
    const auto line = tail_.next_line(std::nullopt);
    if (!line || !*line) return;
    summary_.add(**line + '\n');
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
  adoption_.reset();  // removes the agent and closes its connections
  summary_.wait_until_closed(last_lines);
  // The answer comes after all lines that were written before the request; lines that have arrived
  // can still be read after the shutdown.
  static_cast<void>(ask(questions_, Json{{"action", "ping"}}));
  tail_.shut_down();
  reader_.join();
}

}  // namespace stile::run
