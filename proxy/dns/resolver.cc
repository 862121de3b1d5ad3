// Resolver: names to addresses for one worker: hosts file, cache, and one query in flight per name.
#include "proxy/dns/resolver.h"

#include <algorithm>
#include <exception>

#include "proxy/base/log.h"

namespace stile::dns {
namespace {

// RFC 8305 section 3: once one family has answered, the other gets this long.
constexpr std::chrono::milliseconds second_family_wait{50};
constexpr std::chrono::seconds min_ttl{1}, failure_ttl{1}, max_negative_ttl{60};

struct Family {
  bool done = false;
  bool over_tcp = false;  // retried there, because the letter case of the question was changed
  Answer answer;
};

}  // namespace

// One name being looked up, for all requests that wait for it.
struct Lookup final : Deadline {
  Lookup(Resolver& owner, std::string_view asked, std::uint64_t number,
         std::shared_ptr<acl::Account> payer)
      : resolver{owner}, name{asked}, id{number}, account{std::move(payer)} {
    account->dns_in_flight.fetch_add(1, std::memory_order_relaxed);
  }
  ~Lookup() { account->dns_in_flight.fetch_sub(1, std::memory_order_relaxed); }
  void on_deadline() override { resolver.finish(*this); }
  Family& family(Rtype type) { return type == Rtype::a ? v4 : v6; }

  Resolver& resolver;
  std::string name;
  std::uint64_t id;
  std::shared_ptr<acl::Account> account;
  Family v4, v6;
  std::vector<Resolver::Waiter*> waiters;
};

Resolver::Waiter::~Waiter() {
  if (lookup_ != nullptr) std::erase(lookup_->waiters, this);
}

Resolver::Resolver(Loop& loop, const ResolverOptions& options, const Environment& environment)
    : loop_{loop}, options_{options}, environment_{environment}, cache_{options.cache_entries} {
  channels_ = open_channels(options_, environment_);
}

Resolver::~Resolver() {
  for (auto& [name, lookup] : lookups_) {
    for (Waiter* waiter : lookup->waiters) waiter->lookup_ = nullptr;
  }
  lookups_.clear();  // late callbacks of the channels then find nothing
}

Resolver::Channels Resolver::open_channels(const ResolverOptions& options,
                                           const Environment& environment) const {
  DnsChannel::Options channel{environment.servers, options.timeout / 3, false};
  auto udp = ChannelPool::open(loop_, channel);
  channel.use_tcp = true;
  auto tcp = DnsChannel::open(loop_, channel);
  if (!udp || !tcp) {
    log::error(udp ? tcp.error().message : udp.error().message);
    return {};
  }
  return {std::move(*udp), std::move(*tcp)};
}

ResolvedPtr Resolver::known(std::string_view name) {
  if (const auto found = environment_.hosts->find(std::string{name});
      found != environment_.hosts->end()) {
    return {environment_.hosts, &found->second};  // lives as long as the file's other names
  }
  ResolvedPtr cached = cache_.find(name, loop_.now());
  ++(cached ? counters_.cache_hits : counters_.cache_misses);
  return cached;
}

bool Resolver::ask(std::string_view name, std::shared_ptr<acl::Account> account, Waiter& waiter) {
  auto found = lookups_.find(std::string{name});
  if (found == lookups_.end()) {
    if (account->dns_in_flight.load(std::memory_order_relaxed) >= options_.in_flight_per_agent) {
      return false;
    }
    auto lookup = std::make_unique<Lookup>(*this, name, next_id_++, std::move(account));
    found = lookups_.emplace(std::string{name}, std::move(lookup)).first;
    Lookup& fresh = *found->second;
    loop_.arm(fresh, options_.timeout);
    waiter.lookup_ = &fresh;
    fresh.waiters.push_back(&waiter);
    send(fresh, Rtype::aaaa, false);
    send(fresh, Rtype::a, false);
    return true;
  }
  waiter.lookup_ = found->second.get();
  found->second->waiters.push_back(&waiter);
  return true;
}

// RFC draft "0x20": a true answer repeats the random letter case, which costs a blind forger a bit
// per letter.
std::string Resolver::with_random_case(std::string_view name) {
  std::string mixed{name};
  std::uint64_t bits = 0;
  int left = 0;
  for (char& c : mixed) {
    if (c < 'a' || c > 'z') continue;
    if (left == 0) {
      bits = random_.next();
      left = 64;
    }
    if ((bits & 1) != 0) c = static_cast<char>(c - 'a' + 'A');
    bits >>= 1;
    --left;
  }
  return mixed;
}

void Resolver::send(Lookup& lookup, Rtype type, bool over_tcp) {
  if (!channels_.udp) return;  // no usable server: the lookup ends at its deadline
  const std::string asked = over_tcp ? lookup.name : with_random_case(lookup.name);
  const auto number = static_cast<std::uint16_t>(random_.next());
  auto done = [this, name = lookup.name, id = lookup.id, type, asked, over_tcp](auto packet) {
    on_packet(name, id, type, asked, over_tcp, packet);
  };
  if (over_tcp) {
    channels_.tcp->query(asked, type, number, std::move(done));
  } else {
    channels_.udp->query(asked, type, number, std::move(done));
  }
}

void Resolver::on_packet(const std::string& name, std::uint64_t id, Rtype type,
                         const std::string& asked, bool over_tcp,
                         std::span<const std::uint8_t> packet) {
  const auto found = lookups_.find(name);
  // The lookup may have ended since, or a new one for the same name may have begun.
  if (found == lookups_.end() || found->second->id != id) return;
  Lookup& lookup = *found->second;
  Family& family = lookup.family(type);
  if (family.done || family.over_tcp != over_tcp) return;
  const CaseRule rule = over_tcp ? CaseRule::ignore : CaseRule::exact;
  family.answer = packet.empty() ? Answer{} : read_answer(packet, asked, type, rule);
  if (family.answer.status == Answer::Status::case_mismatch) {
    // A server that does not keep the letter case, or a forgery: TCP tells them apart.
    family.over_tcp = true;
    send(lookup, type, true);
    return;
  }
  family.done = true;
  const Family& other = lookup.family(type == Rtype::a ? Rtype::aaaa : Rtype::a);
  if (other.done) {
    finish(lookup);
  } else if (family.answer.status == Answer::Status::ok) {
    loop_.arm(lookup, std::min(second_family_wait, options_.timeout));
  }
}

void Resolver::finish(Lookup& ended) {
  const auto node = lookups_.extract(ended.name);
  const std::unique_ptr<Lookup> lookup = std::move(node.mapped());
  ResolvedPtr resolved;
  try {
    resolved = gather(*lookup);
  } catch (const std::exception&) {
    // No memory: report a failure to all waiters now.
  }
  for (Waiter* waiter : lookup->waiters) {
    waiter->lookup_ = nullptr;
    waiter->result = resolved;
    waiter->event.fire();
  }
}

// Puts the servers' answer into the cache.
ResolvedPtr Resolver::gather(const Lookup& lookup) {
  auto resolved = std::make_shared<Resolved>();
  std::uint32_t ttl = 0xffffffff;
  bool negative = false;
  for (const Family* family : {&lookup.v6, &lookup.v4}) {
    const Answer& answer = family->answer;
    if (!family->done) continue;
    if (answer.status == Answer::Status::ok) {
      resolved->addresses.insert(resolved->addresses.end(), answer.addresses.begin(),
                                 answer.addresses.end());
      ttl = std::min(ttl, answer.ttl_seconds);
    } else if (answer.status == Answer::Status::no_name ||
               answer.status == Answer::Status::no_data) {
      negative = true;
      if (resolved->addresses.empty()) ttl = std::min(ttl, answer.ttl_seconds);
    }
  }
  std::chrono::seconds keep =
      std::min(std::max(std::chrono::seconds{ttl}, min_ttl), options_.max_ttl);
  if (!resolved->addresses.empty()) {
    ++counters_.answered;
  } else if (negative && lookup.v4.done && lookup.v6.done) {
    ++counters_.no_name;
    resolved->failure = "no such name, or no address for it";
    keep = std::min(keep, max_negative_ttl);
  } else {
    const bool timed_out = !lookup.v4.done || !lookup.v6.done;
    ++(timed_out ? counters_.timed_out : counters_.failed);
    resolved->failure = timed_out ? "the DNS servers did not answer in time"
                                  : "the DNS servers gave no usable answer";
    keep = failure_ttl;
  }
  cache_.put(lookup.name, resolved, loop_.now() + keep);
  return resolved;
}

void Resolver::change(const ResolverOptions& options, const Environment& environment,
                      Channels channels) {
  const bool new_servers = environment.servers != environment_.servers;
  const bool new_channels = new_servers || options.timeout != options_.timeout;
  if (new_servers || options.max_ttl < options_.max_ttl) cache_.clear();
  cache_.set_max_entries(options.cache_entries);
  options_ = options;
  environment_ = environment;
  if (!new_channels) return;
  // Closing a channel calls back for all pending queries without a packet; ignore these calls.
  for (auto& [name, lookup] : lookups_) lookup->id = next_id_++;
  channels_ = std::move(channels);
  std::vector<std::string> names;
  for (const auto& [name, lookup] : lookups_) names.push_back(name);
  for (const std::string& name : names) {
    for (const Rtype type : {Rtype::aaaa, Rtype::a}) {
      const auto found = lookups_.find(name);  // a query that fails at once ends its lookup
      if (found == lookups_.end() || found->second->family(type).done) continue;
      send(*found->second, type, found->second->family(type).over_tcp);
    }
  }
}

}  // namespace stile::dns
