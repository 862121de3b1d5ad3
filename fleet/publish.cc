// publish: sign, publish, look.
#include "fleet/publish.h"

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <limits>
#include <utility>

#include "config/fleet_check.h"
#include "config/json_loader.h"
#include "config/toml_loader.h"
#include "fleet/canonical.h"
#include "fleet/ledger.h"
#include "fleet/settings.h"

namespace stile::fleet {
namespace {

namespace asio = boost::asio;

constexpr std::size_t max_hosts = 100'000;

// Runs `work` on the first endpoint where it does not fail.
template <class T, class Work>
Result<T> on_cluster(Cluster& cluster, const Work& work) {
  Result<T> result = Error{"no endpoint"};
  for (std::size_t i = 0; i < cluster.settings.endpoints.size(); ++i) {
    asio::io_context context{1};
    Store store{context, cluster, i};
    std::exception_ptr failure;
    asio::co_spawn(context, work(store), [&](const std::exception_ptr& problem, Result<T> made) {
      failure = problem;
      result = std::move(made);
    });
    context.run();
    if (failure) std::rethrow_exception(failure);
    if (result) return result;
  }
  return result;
}

struct Written {
  Envelope envelope;
  bool is_written = false;
};

// The highest serial that the store and the hosts know of this object: after the store was rolled
// back, the hosts remember more.
std::uint64_t highest_serial(const std::string& name, const std::vector<Pair>& current,
                             const std::vector<Pair>& hosts) {
  std::uint64_t highest = 0;
  for (const auto& pair : current) {
    const auto envelope = parse_envelope(pair.value);
    if (envelope) highest = std::max(highest, envelope->serial);
  }
  for (const auto& pair : hosts) {
    const auto entry = config::json_or_null(pair.value);
    const auto serial = entry.at("applied").number(name);
    // Hosts do not sign their entries: one number must not use up all serials.
    if (serial && *serial < static_cast<std::int64_t>(max_serial / 2)) {
      highest = std::max(highest, static_cast<std::uint64_t>(*serial));
    }
  }
  return highest;
}

// Also after an answer that was lost: what is there then is what was meant to be written.
asio::awaitable<Result<Written>> write(Store& store, std::string name, Envelope envelope,
                                       std::int64_t revision) {
  const std::string text = envelope_text(envelope);
  const auto swapped = co_await store.replace(name, text, revision);
  if (!swapped) co_return swapped.error();
  if (*swapped) co_return Written{std::move(envelope), true};
  const Store::Wanted wanted{name, "", true, 0, false};
  const auto now = co_await store.read(wanted);
  if (!now) co_return now.error();
  const bool is_there = !now->pairs.empty() && now->pairs.front().value == text;
  co_return Written{std::move(envelope), is_there};
}

asio::awaitable<Result<Written>> publish_on(Store& store, const Draft& draft,
                                            const std::string& private_pem) {
  const auto opened = co_await store.open();
  if (!opened) co_return opened.error();
  const Store::Wanted wanted{draft.name, "", true, 0, false};
  const auto current = co_await store.read(wanted);
  if (!current) co_return current.error();
  Draft signed_draft = draft;
  Envelope& envelope = signed_draft.envelope;
  if (envelope.serial == 0) {
    const Store::Wanted all{"hosts/", "", false, 0, false};
    const auto hosts = co_await store.read_all(all, max_hosts);
    if (!hosts) co_return hosts.error();
    envelope.serial = highest_serial(draft.name, current->pairs, hosts->pairs) + 1;
  }
  if (const auto done = sign(private_pem, draft.name, envelope); !done) co_return done.error();
  const std::int64_t revision =
      draft.revision.value_or(current->pairs.empty() ? 0 : current->pairs.front().mod_revision);
  co_return co_await write(store, draft.name, std::move(envelope), revision);
}

asio::awaitable<Result<Written>> publish_signed_on(Store& store, std::string name,
                                                   Envelope envelope) {
  const auto opened = co_await store.open();
  if (!opened) co_return opened.error();
  const Store::Wanted wanted{name, "", true, 0, false};
  const auto current = co_await store.read(wanted);
  if (!current) co_return current.error();
  const std::int64_t revision = current->pairs.empty() ? 0 : current->pairs.front().mod_revision;
  co_return co_await write(store, std::move(name), std::move(envelope), revision);
}

asio::awaitable<Result<Store::Page>> results_on(Store& store, std::string below) {
  const auto opened = co_await store.open();
  if (!opened) co_return opened.error();
  const Store::Wanted wanted{std::move(below), "", false, 0, false};
  co_return co_await store.read_all(wanted, max_hosts);
}

asio::awaitable<Result<Overview>> look_on(Store& store, const Signers& signers) {
  const auto opened = co_await store.open();
  if (!opened) co_return opened.error();
  Overview overview;
  const Store::Wanted lever{"switch", "", true, 0, false};
  const Store::Wanted policies{"policy/", "", false, 0, false};
  const std::array both{lever, policies};
  for (const auto& wanted : both) {
    auto page = co_await store.read_all(wanted, max_objects);
    if (!page) co_return page.error();
    for (auto& pair : page->pairs) {
      Overview::Object object;
      object.text = std::move(pair.value);
      object.mod_revision = pair.mod_revision;
      auto envelope = parse_envelope(object.text);
      const auto verified =
          !envelope ? Result<void>{envelope.error()} : signers.verify(pair.key, *envelope);
      if (!verified) object.problem = verified.error().message;
      if (envelope) object.envelope = std::move(*envelope);
      overview.objects.emplace(std::move(pair.key), std::move(object));
    }
  }
  const Store::Wanted hosts{"hosts/", "", false, 0, false};
  auto entries = co_await store.read_all(hosts, max_hosts);
  if (!entries) co_return entries.error();
  for (auto& pair : entries->pairs) overview.hosts[pair.key.substr(6)] = std::move(pair.value);
  const Store::Wanted budgets{"budgets/", "", false, 0, false};
  auto counters = co_await store.read_all(budgets, max_hosts);
  if (!counters) co_return counters.error();
  for (auto& pair : counters->pairs) overview.budgets[pair.key.substr(8)] = std::move(pair.value);
  co_return overview;
}

Result<Envelope> envelope_of(const std::string& name, Result<Written> written) {
  if (!written) return written.error();
  if (!written->is_written) {
    return Error{name +
                 " was changed in the store meanwhile; look at it, then "
                 "publish again"};
  }
  return std::move(written->envelope);
}

}  // namespace

Result<std::string> policy_body(const std::string& name, const std::string& file) {
  const auto text = read_small_file(file, max_envelope_bytes);
  if (!text) return text.error();
  const auto document =
      file.ends_with(".json") ? config::parse_json(*text, file) : config::parse_toml(*text, file);
  if (!document) return Error{document.error().text()};
  auto body = canonical_text(*document);
  if (!body) return Error{file + ": " + body.error().message};
  const auto problems =
      config::check_fleet_policy({name, 1, std::numeric_limits<UnixMicros>::max(), *body});
  if (!problems.has_errors()) return body;
  config::Diagnostics named;  // the lines are those of the canonical text, not of the file
  for (const auto& item : problems.items()) {
    named.error({file, 0, 0}, item.key, item.problem, item.hint);
  }
  return Error{named.text()};
}

Result<Envelope> publish(Cluster& cluster, Draft draft, const std::string& private_pem) {
  const auto work = [&](Store& store) { return publish_on(store, draft, private_pem); };
  return envelope_of(draft.name, on_cluster<Written>(cluster, work));
}

Result<Envelope> publish_signed(Cluster& cluster, const std::string& name,
                                const std::string& text) {
  const auto envelope = parse_envelope(text);
  if (!envelope) return envelope.error();
  const auto work = [&](Store& store) { return publish_signed_on(store, name, *envelope); };
  return envelope_of(name, on_cluster<Written>(cluster, work));
}

Result<std::map<std::string, std::string>> read_results(Cluster& cluster, const std::string& id) {
  const std::string below = "tries/" + id + '/';
  const auto work = [&](Store& store) { return results_on(store, below); };
  auto page = on_cluster<Store::Page>(cluster, work);
  if (!page) return page.error();
  std::map<std::string, std::string> results;
  for (auto& pair : page->pairs) results[pair.key.substr(below.size())] = std::move(pair.value);
  return results;
}

Result<Overview> look(Cluster& cluster, const Signers& signers) {
  const auto work = [&](Store& store) { return look_on(store, signers); };
  return on_cluster<Overview>(cluster, work);
}

}  // namespace stile::fleet
