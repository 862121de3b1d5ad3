// StoreSession: reading, following, heartbeat, fail-over.
#include "fleet/session.h"

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <exception>
#include <random>
#include <utility>

#include "base/json.h"
#include "proxy/base/log.h"

namespace stile::fleet {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds, std::chrono::seconds;

constexpr std::int64_t lease_seconds = 15;
constexpr seconds beat_interval{5};
constexpr seconds check_interval{60};
constexpr milliseconds busy_interval{1000};  // while something waits or a budget runs
constexpr milliseconds first_pause{50};
constexpr milliseconds longest_pause{10'000};
constexpr std::uint64_t smallest_slice = 64U << 10U, largest_slice = 256U << 20U;

// A little longer or shorter each time: hosts that lost the same node must not return as one.
milliseconds spread(milliseconds time) {
  thread_local std::minstd_rand random{std::random_device{}()};
  std::uniform_real_distribution<double> factor{0.5, 1.5};
  return milliseconds{
      static_cast<milliseconds::rep>(static_cast<double>(time.count()) * factor(random))};
}

std::uint64_t slice_of(std::uint64_t total) {
  return std::clamp(total / 100, std::min(smallest_slice, total), largest_slice);
}

std::vector<StoredObject> found_in(std::vector<Pair> pairs) {
  std::vector<StoredObject> found;
  for (auto& pair : pairs) found.push_back({std::move(pair.key), std::move(pair.value)});
  return found;
}

}  // namespace

std::string host_entry(const Applier& applier, const DaemonLink::Overview& daemon) {
  std::string out;
  {
    JsonObject object{out};
    object.add("version", daemon.version).add("mode", daemon.mode);
    object.add("labels", applier.member().labels);
    object.add("generation", applier.last().generation).add("agents", applier.last().agents);
    object.add("offline", applier.is_offline());
    {
      JsonObject fences{object.key("containment")};
      fences.add("checked", daemon.checked).add("failed", daemon.failed);
      if (!daemon.problem.empty()) fences.add("problem", daemon.problem);
    }
    {
      JsonObject applied{object.key("applied")};
      for (const auto& [name, entry] : applier.ledger().entries()) applied.add(name, entry.serial);
    }
    JsonArray refused{object.key("refused")};
    for (const auto& one : applier.refused()) {
      JsonObject{refused.next()}.add("name", one.name).add("reason", one.reason);
    }
    for (const auto& one : applier.last().rejected) {
      JsonObject{refused.next()}.add("name", one.name).add("reason", one.reason);
    }
  }
  return out;
}

StoreSession::StoreSession(asio::io_context& context, Cluster cluster, Applier& applier,
                           const DaemonLink& daemon)
    : context_{context},
      cluster_{std::move(cluster)},
      applier_{applier},
      daemon_{daemon},
      pause_{context} {}

StoreSession::~StoreSession() {
  if (trial_.joinable()) trial_.join();
}

void StoreSession::Stay::end_with(const std::string& why) {
  if (end.empty()) end = why;
  calls.close();
  changes.close();
  beat.cancel();
}

void StoreSession::stop() {
  is_stopping_ = true;
  pause_.cancel();
  if (current_ != nullptr) current_->end_with("stopped");
}

asio::awaitable<void> StoreSession::run() {
  std::size_t endpoint = std::random_device{}() % cluster_.settings.endpoints.size();
  milliseconds pause = first_pause;
  while (!is_stopping_) {
    Stay here{context_, cluster_, endpoint};
    here.url = cluster_.settings.endpoints[endpoint];
    current_ = &here;
    const auto ended = co_await stay(here);
    current_ = nullptr;
    if (is_stopping_) break;
    if (std::exchange(is_connected_, false)) daemon_.report(false);
    if (!here.end.empty() || !ended) {
      log::warning("fleet: " + (here.end.empty() ? ended.error().message : here.end));
    }
    if (here.revision > 0) pause = first_pause;
    endpoint = (endpoint + 1) % cluster_.settings.endpoints.size();
    boost::system::error_code ignored;
    auto use = asio::redirect_error(asio::use_awaitable, ignored);
    pause_.expires_after(spread(pause));
    co_await pause_.async_wait(use);
    pause = std::min(pause * 2, longest_pause);
    applier_.settle(unix_micros());  // what waited for its time, also without a store
    daemon_.report(false);
  }
}

asio::awaitable<Result<void>> StoreSession::stay(Stay& here) {
  auto opened = co_await here.calls.open();
  if (!opened) co_return opened.error();
  auto read = co_await read_objects(here);
  if (!read) co_return read.error();
  opened = co_await here.changes.open();
  if (!opened) co_return opened.error();
  const std::vector<std::string> watched{"switch", "policy/", "try/"};
  auto watching = co_await here.changes.watch(watched, here.revision + 1);
  if (!watching) co_return watching.error();
  is_connected_ = true;
  daemon_.report(true);
  log::info("fleet: connected to " + here.url);
  here.is_heartbeat_over = false;
  asio::co_spawn(context_, heartbeat(here), [&here](const std::exception_ptr& problem) {
    here.is_heartbeat_over = true;
    here.over.cancel();
    here.end_with(problem ? "the heartbeat failed" : "the heartbeat ended");
  });
  auto followed = co_await follow(here);
  here.end_with(followed ? "" : followed.error().message);
  boost::system::error_code ignored;
  auto use = asio::redirect_error(asio::use_awaitable, ignored);
  while (!here.is_heartbeat_over) {
    here.over.expires_after(seconds{1});
    co_await here.over.async_wait(use);
  }
  co_return followed;
}

// A switch that says offline counts at once: policies can be many. Any other counts with them.
asio::awaitable<Result<void>> StoreSession::read_objects(Stay& here) {
  const Store::Wanted only_switch{"switch", "", true, 0, false};
  auto lever = co_await here.calls.read(only_switch);
  if (!lever) co_return lever.error();
  auto found = found_in(std::move(lever->pairs));
  if (applier_.turns_offline(found, unix_micros()))
    applier_.take(std::exchange(found, {}), unix_micros());
  const Store::Wanted policies{"policy/", "", false, lever->revision, false};
  // Page by page: what nobody signed is not kept, however much of it there is.
  const Store::Sieve sieve = [this](std::vector<Pair>& pairs) {
    std::erase_if(pairs, [this](const Pair& pair) {
      return !applier_.is_worth_keeping(pair.key, pair.value, unix_micros());
    });
  };
  auto page = co_await here.calls.read_all(policies, max_objects, &sieve);
  if (!page) co_return page.error();
  auto all = found_in(std::move(page->pairs));
  std::move(found.begin(), found.end(), std::back_inserter(all));
  applier_.take(std::move(all), unix_micros());
  here.revision = lever->revision;
  co_return Result<void>{};
}

asio::awaitable<Result<void>> StoreSession::follow(Stay& here) {
  while (true) {
    auto changes = co_await here.changes.next_changes();
    if (!changes) co_return changes.error();
    // A revision that is compacted, too: everything is read again then.
    if (changes->is_cancelled) co_return Error{"the store ended the watch"};
    here.revision = std::max(here.revision, changes->revision);
    if (changes->pairs.empty()) continue;
    for (const auto& pair : changes->pairs) {
      const auto state = applier_.trial(pair.key, pair.value, unix_micros());
      if (state) start_trial(trial_id(pair.value), *state);
    }
    applier_.take(found_in(std::move(changes->pairs)), unix_micros());
    here.is_beat_due = true;  // the entry of this host has changed
    here.beat.cancel();
  }
}

asio::awaitable<void> StoreSession::heartbeat(Stay& here) {
  boost::system::error_code ignored;
  auto use = asio::redirect_error(asio::use_awaitable, ignored);
  while (here.end.empty()) {
    here.is_beat_due = false;
    const auto done = co_await beat(here);
    if (!done) {
      here.end_with(done.error().message);
      co_return;
    }
    const bool is_busy = applier_.next_due() || !fleet_budgets(applier_.ledger()).empty();
    here.beat.expires_after(is_busy ? busy_interval : milliseconds{beat_interval});
    if (!here.is_beat_due) co_await here.beat.async_wait(use);
  }
}

// Each beat asks the whole cluster: a node that lost the others cannot keep a lease.
asio::awaitable<Result<void>> StoreSession::beat(Stay& here) {
  applier_.settle(unix_micros());
  if (here.lease != 0) {
    const auto kept = co_await here.calls.keep_lease(here.lease);
    if (!kept) co_return kept.error();
    if (!*kept) here.lease = 0;
  }
  if (here.lease == 0) {
    const auto lease = co_await here.calls.grant_lease(lease_seconds);
    if (!lease) co_return lease.error();
    here.lease = *lease;
    here.entry.clear();
  }
  daemon_.report(true);
  const auto checked = co_await check_watch(here);
  if (!checked) co_return checked.error();
  const auto told = co_await write_results(here);
  if (!told) co_return told.error();
  const auto taken = co_await take_slices(here);
  if (!taken) co_return taken.error();
  co_return co_await write_entry(here);
}

asio::awaitable<Result<void>> StoreSession::write_entry(Stay& here) {
  std::string entry = host_entry(applier_, daemon_.overview());
  if (entry == here.entry) co_return Result<void>{};
  std::string name = "hosts/" + applier_.member().host;
  auto written = co_await here.calls.put(std::move(name), entry, here.lease);
  if (written) here.entry = std::move(entry);
  co_return written;
}

// A connection can die without a word, and a watch with it. So the store is asked once in a while
// for the last change; if the watch has not brought it by the next beat, this stay ends.
asio::awaitable<Result<void>> StoreSession::check_watch(Stay& here) {
  if (here.missed > here.revision) co_return Error{"the watch brings nothing any more"};
  here.missed = 0;
  const auto time = std::chrono::steady_clock::now();
  if (time < here.checked + check_interval) co_return Result<void>{};
  here.checked = time;
  const Store::Wanted lever{"switch", "", true, 0, true};
  const Store::Wanted policies{"policy/", "", false, 0, true};
  const std::array both{lever, policies};
  for (const auto& wanted : both) {
    const auto page = co_await here.calls.read_all(wanted, max_objects);
    if (!page) co_return page.error();
    for (const auto& pair : page->pairs) here.missed = std::max(here.missed, pair.mod_revision);
  }
  co_return Result<void>{};
}

// By `stile`, which knows how to read a log. What it needs of this host comes from the daemon.
void StoreSession::start_trial(std::string id, const config::FleetState& state) {
  if (is_trying_) return;
  if (trial_.joinable()) trial_.join();
  is_trying_ = true;
  trial_ = std::thread{[this, id = std::move(id), state] {
    std::string result = daemon_.replay(state);
    asio::post(context_, [this, id, result = std::move(result)] {
      is_trying_ = false;
      if (current_ == nullptr) return;
      current_->results[id] = result;
      current_->is_beat_due = true;
      current_->beat.cancel();
    });
  }};
}

asio::awaitable<Result<void>> StoreSession::write_results(Stay& here) {
  while (!here.results.empty()) {
    const auto [id, result] = *here.results.begin();
    std::string name = "tries/" + id + '/' + applier_.member().host;
    auto written = co_await here.calls.put(std::move(name), result, here.lease);
    if (!written) co_return written.error();
    here.results.erase(id);
  }
  co_return Result<void>{};
}

// Only for an agent that sends something: otherwise idle hosts would use a budget up.
asio::awaitable<Result<void>> StoreSession::take_slices(Stay& here) {
  const auto budgets = fleet_budgets(applier_.ledger());
  for (const auto& [agent, total] : budgets) {
    const auto usage = daemon_.usage(agent);
    const auto mine = applier_.slices().find(agent);
    const std::uint64_t own = mine == applier_.slices().end() ? 0 : mine->second.bytes;
    const bool is_low = usage && usage->used + slice_of(total) / 2 > own;
    if (!is_low || (usage->used == 0 && !usage->is_waiting)) continue;
    const auto taken = co_await take_slice(here, agent, total);
    if (!taken) co_return taken.error();
  }
  co_return Result<void>{};
}

// The store counts first: a host that dies in between loses the slice, and none gets it twice.
asio::awaitable<Result<void>> StoreSession::take_slice(Stay& here, std::string agent,
                                                       std::uint64_t total) {
  const std::string name = "budgets/" + agent;
  const Store::Wanted counter{name, "", true, 0, false};
  const auto page = co_await here.calls.read(counter);
  if (!page) co_return page.error();
  std::uint64_t taken = 0;
  std::int64_t revision = 0;
  if (!page->pairs.empty()) {
    const std::string& text = page->pairs.front().value;
    revision = page->pairs.front().mod_revision;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, taken);
    // A counter that cannot be read gives nothing away.
    if (error != std::errc{} || stop != end) co_return Result<void>{};
  }
  // However the store counts, this host never takes more than all of it.
  const auto mine = applier_.slices().find(agent);
  const std::uint64_t own = mine == applier_.slices().end() ? 0 : mine->second.bytes;
  if (taken >= total || own >= total) {
    applier_.add_slice(agent, 0, total, unix_micros());
    co_return Result<void>{};
  }
  const std::uint64_t slice = std::min({slice_of(total), total - taken, total - own});
  const auto swapped = co_await here.calls.replace(name, std::to_string(taken + slice), revision);
  if (!swapped) co_return swapped.error();
  if (*swapped) applier_.add_slice(agent, slice, 0, unix_micros());
  co_return Result<void>{};
}

}  // namespace stile::fleet
