// World: the proxy's session code between clients and origins that a fuzzer or a unit test
// plays.
#include "tests/fuzz/connection_world.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "audit/log.h"
#include "base/ascii.h"
#include "proxy/session/session.h"

namespace stile::fuzz {
namespace {

using std::chrono::milliseconds;
using Event = RequestLine::Event;
using Kind = Origin::Kind;

constexpr int max_closing_turns = 500;

audit::Log& shared_log() {
  static const auto log = [] {
    auto opened = audit::Log::open({.path = "/dev/null"});
    STILE_FUZZ_CHECK(opened);
    return std::move(*opened);
  }();
  return *log;
}

}  // namespace

World::World() {
  shared_log().retry();  // what the last play could not write
  shared_log().set_tap([this](std::string_view text) { on_lines(text); });
  clients_.reserve(max_clients);  // they are pointed at
  account_->bytes_up.set(acl::Allowance::unlimited);
  account_->bytes_down.set(acl::Allowance::unlimited);
}

World::~World() { shared_log().set_tap({}); }

void World::run() {
  session::Shared shared{snapshot_of(stage_, ++generation_, account_),
                         {acl::Address::v4(0xc6120000), 15}};
  Loop loop{*this};
  dns::Environment names;
  names.hosts = std::make_shared<dns::Hosts>(dns::parse_hosts(hosts_text));
  session::Limits limits;
  limits.header_bytes = 8192;
  limits.idle_timeout = milliseconds{60000};
  session::Context context{
      loop, shared, shared_log(), {}, names, limits, std::make_shared<acl::PrefixMap>()};
  loop_ = &loop;
  shared_ = &shared;
  context_ = &context;
  loop.run([&] { return context.audit.flush(); });
  STILE_FUZZ_CHECK(shared.connections == 0 && account_->connections == 0);
  STILE_FUZZ_CHECK(context.tally("alpha")->tunnels_open == 0);
  disk = Disk::works;
  shared_log().retry();
  judge_whole();
}

void World::on_idle() {
  bool any = origins_read();
  if (clients_read_ || has_ended_) {
    for (End& end : clients_) any |= !end.read().empty();
  }
  if (any) return;
  if (!has_ended_ && move()) {
    lines_were_lost_ |= disk != Disk::works;
    return;
  }
  has_ended_ = true;
  close();
}

// Both ends go, and time passes: whatever the play was, the session is gone soon.
void World::close() {
  for (auto& origin : origins_) origin->end.fd.reset();
  for (End& end : clients_) end.fd.reset();
  if (context_->live.empty()) return loop_->stop();
  STILE_FUZZ_CHECK(++closing_turns_ < max_closing_turns);
  pass(milliseconds{1000});
}

int World::on_connect(int fd, const acl::Address& address, std::uint16_t port) {
  const std::string host{host_of(address)};
  const bool may_dial =
      may_reach(stage_, host) && (port == 443 || port == 80 || stage_ == Stage::observe);
  STILE_FUZZ_CHECK(may_dial);
  if (dial_result_ == ECONNREFUSED) return ECONNREFUSED;
  if (dial_result_ == ETIMEDOUT) {  // a pipe that nobody writes to: never ready
    std::array<int, 2> ends{};
    STILE_FUZZ_CHECK(::pipe2(ends.data(), O_CLOEXEC) == 0);
    ::dup3(ends[0], fd, O_CLOEXEC);
    ::close(ends[0]);
    silent_.emplace_back(ends[1]);
    return EINPROGRESS;
  }
  Pair pair = socket_pair();
  ::dup3(pair.proxys.get(), fd, O_CLOEXEC);
  auto origin = std::make_unique<Origin>();
  origin->end.fd = std::move(pair.ours);
  origin->host = host;
  origin->port = port;
  origins_.push_back(std::move(origin));
  return dial_result_;
}

// What is with an origin before the line that lets it out is written is there too early.
void World::on_log_write() { origins_read(); }

void World::on_lines(std::string_view text) {
  bool opens = false;
  for (RequestLine& line : lines_in(text)) {
    // Who was known when it came is no stranger when its agent is removed.
    STILE_FUZZ_CHECK(line.reason != "unknown-agent" || line.agent == "-");
    if (line.event == Event::open) {
      STILE_FUZZ_CHECK(may_reach(stage_, line.host));
      STILE_FUZZ_CHECK(line.method != "CONNECT" || equal_ignoring_case(line.sni, line.host) ||
                       stage_ == Stage::observe);
    }
    opens = opens || line.event == Event::open;
    lines_.push_back(std::move(line));
  }
  if (opens) after_open_line();
}

bool World::origins_read() {
  bool any = false;
  for (auto& origin : origins_) {
    const std::string_view bytes = origin->end.read();
    if (bytes.empty()) continue;
    any = true;
    judge_reach(*origin, bytes);
  }
  return any;
}

// No byte at an origin that the policy in force refuses, none without its line. What is open may go
// on until its round comes.
void World::judge_reach(Origin& origin, std::string_view bytes) {
  const bool was_open = origin.end.received.size() > bytes.size();
  STILE_FUZZ_CHECK(may_reach(stage_, origin.host) ||
                   (was_open && may_reach(round_stage_, origin.host)));
  std::uint64_t lines = 0, tunnels = 0, messages = 0, sent_again = 0;
  for (const RequestLine& line : lines_) {
    if (line.event != Event::open || line.host != origin.host || line.port != origin.port) continue;
    ++lines;
    tunnels += line.method == "CONNECT";
  }
  if (origin.kind == Kind::unknown) {
    origin.kind = tunnels == lines ? Kind::tunnel : tunnels == 0 ? Kind::http : Kind::either;
  }
  if (origin.kind == Kind::http) origin.requests.add(bytes, origin.host, stripped_by(stage_));
  for (const auto& other : origins_) {
    if (other->host != origin.host || other->port != origin.port) continue;
    messages += other->kind == Kind::http ? other->requests.begun() : !other->end.received.empty();
    // A kept connection that the origin closes takes at most one request with it, which is sent
    // once more under the same line. It may be the first on it: the one that it was dialled for
    // could not be logged.
    sent_again += other->requests.begun() > (other->end.is_gone() ? 0 : 1);
  }
  STILE_FUZZ_CHECK(messages <= lines + sent_again);
}

void World::judge_whole() const {
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    std::vector<RequestLine> own;
    for (const RequestLine& line : lines_) {
      if (line.conn == i + 1) own.push_back(line);
    }
    judge_ends(own, lines_were_lost_);
    const auto tunnelled = judge_answers(clients_[i].received, own, lines_were_lost_);
    STILE_FUZZ_CHECK(is_relayed(tunnelled, "") ||
                     std::any_of(origins_.begin(), origins_.end(), [&](const auto& origin) {
                       return is_relayed(tunnelled, origin->end.sent);
                     }));
  }
  for (const auto& origin : origins_) {
    STILE_FUZZ_CHECK(origin->kind != Kind::tunnel ||
                     std::any_of(clients_.begin(), clients_.end(), [&](const End& end) {
                       return end.sent.find(origin->end.received) != std::string::npos;
                     }));
  }
}

void World::open_client() {
  if (clients_.size() == max_clients) return;
  Pair pair = socket_pair();
  clients_.emplace_back().fd = std::move(pair.ours);
  client_ = clients_.size() - 1;
  const auto snapshot = shared_->policy.current();
  const acl::Address source = *acl::Address::parse("10.9.0.1");
  const auto* agent = snapshot->by_source(source);
  session::Peer peer{*shared_,
                     agent != nullptr ? *agent : nullptr,
                     agent != nullptr ? account_ : shared_->unknown,
                     context_->tally(agent != nullptr ? "alpha" : "-"),
                     source,
                     static_cast<std::uint16_t>(1000 + client_),
                     clients_.size(),
                     false};
  session::Session::start(*context_, loop_->adopt(std::move(pair.proxys)), std::move(peer));
}

End& World::client() {
  if (clients_.empty()) open_client();
  return clients_[client_];
}

void World::choose_client(std::size_t number) {
  if (!clients_.empty()) client_ = number % clients_.size();
}

Origin* World::origin() {
  return origins_.empty() ? nullptr : origins_[origin_ % origins_.size()].get();
}

void World::change_policy(Stage stage, Round round) {
  judge_what_is_open();
  while (origins_read()) continue;  // what is under way was let out by the policy before
  stage_ = stage;
  shared_->policy.swap(snapshot_of(stage, ++generation_, account_));
  is_round_due_ = true;
  if (round == Round::now) judge_what_is_open();
}

void World::pass(milliseconds time) {
  judge_what_is_open();
  advance(time);
}

void World::judge_what_is_open() {
  if (!is_round_due_) return;
  is_round_due_ = false;
  while (origins_read()) continue;
  round_stage_ = stage_;
  const auto snapshot = context_->policy.get();
  for (auto it = context_->live.begin(); it != context_->live.end();) {
    (it++)->judge_again(*snapshot, false);
  }
  for (auto it = context_->live.begin(); it != context_->live.end();) (it++)->close_if_cut();
}

void World::drain() {
  shared_->draining = true;
  for (auto it = context_->live.begin(); it != context_->live.end();) (it++)->drain();
}

}  // namespace stile::fuzz
