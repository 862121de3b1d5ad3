// OriginPool: idle connections to origins, kept for later requests.
#include "proxy/session/origin_pool.h"

#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "acl/decide.h"
#include "proxy/base/clock.h"
#include "proxy/base/seeded_hash.h"
#include "proxy/net/sockaddr.h"
#include "proxy/session/context.h"
#include "proxy/session/request.h"

namespace stile::session {

// Owned by the pool; anything that ends it calls drop().
class OriginPool::Kept final : public Pooled,
                               public Live,
                               public Hook,
                               public OrderHook,
                               private Watcher,
                               private Deadline {
 public:
  Kept(OriginPool& pool, const Peer& peer, const Request& request, const Key& key,
       net::Stream origin)
      : stream{std::move(origin)},
        address{*request.origin},
        tally{peer.tally},
        pool_{pool},
        host_{key.host},
        key_{key},
        agent_{request.judged_by},
        account_{peer.account},
        source_{peer.source()} {
    key_.host = host_;
    hash = hash_of(key_);
    stream.socket().watch(this);
    pool.context_.loop.arm(*this, idle_time);
    pool.context_.live.push_back(*this);
  }
  ~Kept() {
    if (stream) stream.socket().watch(nullptr);
  }

  [[nodiscard]] const Key& key() const noexcept { return key_; }
  [[nodiscard]] bool is_usable() noexcept {
    return !stream.has_input() && !stream.socket().is_dead() && !stream.socket().has_hung_up();
  }

  void judge_again(const acl::Snapshot& snapshot, bool all) override {
    const auto* agent = snapshot.by_id(agent_->id);
    if (agent == nullptr || (*agent)->account != account_) return pool_.drop(*this);
    if (!all && agent->get() == agent_.get()) return;
    if (!passes(**agent)) return pool_.drop(*this);
    agent_ = *agent;
  }
  void drain() override { pool_.drop(*this); }
  void end() override { pool_.drop(*this); }
  [[nodiscard]] bool describe(ConnectionInfo&) const override { return false; }

  net::Stream stream;
  acl::Address address;
  std::shared_ptr<metrics::Tally> tally;
  std::size_t hash = 0;

 private:
  void on_deadline() override { pool_.drop(*this); }
  void on_ready(Socket&) override {
    if (!is_usable()) pool_.drop(*this);
  }

  [[nodiscard]] bool passes(const acl::AgentPolicy& agent) const {
    const std::string authority = host_.empty() ? net::endpoint_text(key_.literal, key_.port)
                                                : host_ + ':' + std::to_string(key_.port);
    const std::vector<acl::Address> dialled{address};
    acl::Query query;
    query.agent = &agent;
    query.scheme = key_.is_inside ? acl::Scheme::tunnel : acl::Scheme::http;
    query.authority = acl::split_authority(authority);
    query.now = unix_micros();
    query.source = source_;
    query.method = "GET";
    query.addresses = &dialled;
    const acl::Decision decision = acl::decide(query);
    return decision.passes() && decision.is_opened == key_.is_inside &&
           acl::may_dial(agent, decision, address, *pool_.context_.own_addresses);
  }

  OriginPool& pool_;
  std::string host_;
  Key key_;
  std::shared_ptr<const acl::AgentPolicy> agent_;  // by which it was last judged
  std::shared_ptr<acl::Account> account_;          // keeps the account of the key alive
  acl::Address source_;
};

struct OriginPool::Tables {
  using Index = boost::intrusive::unordered_multiset<
      Kept, boost::intrusive::base_hook<Hook>, boost::intrusive::hash<Hash>,
      boost::intrusive::equal<Same>, boost::intrusive::constant_time_size<false>,
      boost::intrusive::power_2_buckets<true>>;
  using Order = boost::intrusive::list<Kept, boost::intrusive::base_hook<OrderHook>,
                                       boost::intrusive::constant_time_size<false>>;
  std::array<Bucket, buckets> room;
  Index index{Index::bucket_traits{room.data(), buckets}};
  Order order;  // the oldest first
};

std::size_t OriginPool::Hash::operator()(const Kept& kept) const noexcept { return kept.hash; }

bool OriginPool::Same::operator()(const Kept& a, const Kept& b) const noexcept {
  return a.key() == b.key();
}
bool OriginPool::Same::operator()(const Key& a, const Kept& b) const noexcept {
  return a == b.key();
}

OriginPool::OriginPool(Context& context) noexcept : context_{context}, room_{most} {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0)
    room_ = std::min<std::size_t>(most, files.rlim_cur / 8);
}

OriginPool::~OriginPool() {
  while (size_ > 0) drop(tables_->order.front());
}

OriginPool::Tables& OriginPool::tables() {
  if (!tables_) tables_ = std::make_unique<Tables>();
  return *tables_;
}

OriginPool::Key OriginPool::key_of(const Peer& peer, const Request& request,
                                   std::uint64_t trust) noexcept {
  const acl::Decision& decision = request.decision;
  const bool is_ordered = !request.judged_by->takes_grants();
  return {peer.account.get(),
          peer.tally.get(),
          is_ordered ? peer.source() : acl::Address{},
          decision.literal ? std::string_view{} : decision.host.text(),
          decision.literal.value_or(acl::Address{}),
          decision.port,
          request.is_inside,
          trust};
}

std::size_t OriginPool::hash_of(const Key& key) noexcept {
  std::size_t hash = SeededHash{}(key.host);  // agents choose the hosts
  const auto add = [&hash](std::size_t part) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32U;
  };
  add(std::hash<const void*>{}(key.account));
  add(key.port + (key.is_inside ? 0x10000U : 0U));
  return hash;
}

void OriginPool::keep(const Peer& peer, const Request& request, net::Stream origin) {
  if (context_.shared.draining.load(std::memory_order_relaxed) ||
      peer.tally->origins_kept >= room_ / 4) {
    return;
  }
  Tables& all = tables();
  auto kept = std::make_unique<Kept>(*this, peer, request, key_of(peer, request, request.trust),
                                     std::move(origin));
  if (!kept->is_usable()) return;
  if (size_ >= room_) drop(all.order.front());
  all.index.insert(*kept);
  all.order.push_back(*kept);
  ++kept->tally->origins_kept;
  ++size_;
  static_cast<void>(kept.release());
}

OriginPool::Taken OriginPool::take(const Peer& peer, const Request& request) {
  if (size_ == 0) return {};
  const std::uint64_t trust = request.is_inside ? context_.shared.trust() : 0;
  const Key key = key_of(peer, request, trust);
  const std::size_t hash = hash_of(key);
  const auto found = tables_->index.find(
      key, [hash](const Key&) { return hash; }, Same{});
  if (found == tables_->index.end()) return {};
  Kept& kept = *found;
  Taken taken;
  if (kept.is_usable()) {
    taken.address = kept.address;
    taken.trust = trust;
    kept.stream.socket().watch(nullptr);
    taken.stream = std::move(kept.stream);
  }
  drop(kept);
  return taken;
}

void OriginPool::drop(Kept& kept) noexcept {
  tables_->index.erase(tables_->index.iterator_to(kept));
  tables_->order.erase(tables_->order.iterator_to(kept));
  --kept.tally->origins_kept;
  --size_;
  delete &kept;
}

}  // namespace stile::session
