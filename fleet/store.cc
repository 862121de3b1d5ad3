// Store: requests to etcd with the names of a fleet.
#include "fleet/store.h"

#include <fcntl.h>

#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/system_error.h"
#include "base/unique_fd.h"

namespace stile::fleet {
namespace {

namespace asio = boost::asio;

constexpr std::size_t max_password_bytes = 1024;

Result<std::string> read_password(const std::string& path) {
  const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) return system_error(path);
  auto text = read_all(file.get(), max_password_bytes);
  if (!text) return Error{path + ": " + text.error().message};
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  return text;
}

// In order, each once: otherwise pages could go on for ever, or hide what lies between them.
bool is_within(const Range& range, const std::vector<Pair>& pairs) {
  std::string_view last;
  for (const auto& pair : pairs) {
    const bool is_inside = range.end.empty() ? pair.key == range.first
                                             : pair.key >= range.first && pair.key < range.end;
    if (!is_inside || pair.key <= last) return false;
    last = pair.key;
  }
  return true;
}

}  // namespace

Result<Cluster> Cluster::open(config::FleetSettings settings) {
  if (settings.endpoints.empty()) {
    return Error{"[fleet] has no endpoints: this host belongs to no fleet"};
  }
  auto tls = make_tls(settings);
  if (!tls) return tls.error();
  std::string password;
  if (!settings.user.empty()) {
    if (settings.password_file.empty()) return Error{"fleet.user needs fleet.password_file"};
    auto read = read_password(settings.password_file);
    if (!read) return read.error();
    password = std::move(*read);
  }
  return Cluster{std::move(settings), std::move(*tls), std::move(password)};
}

std::string Cluster::key(std::string_view name) const {
  return settings.prefix + '/' + std::string{name};
}

Store::Store(asio::io_context& context, Cluster& cluster, std::size_t endpoint)
    : cluster_{cluster},
      connection_{context, cluster.tls,
                  *config::parse_store_address(cluster.settings.endpoints[endpoint])} {}

asio::awaitable<Result<void>> Store::open() {
  auto opened = co_await connection_.open();
  if (!opened) co_return opened.error();
  if (cluster_.settings.user.empty()) co_return Result<void>{};
  std::string request = login_request(cluster_.settings.user, cluster_.password);
  const auto answer = co_await connection_.call("/auth/authenticate", std::move(request));
  if (!answer) co_return answer.error();
  auto token = parse_token(*answer);
  if (!token) co_return token.error();
  connection_.set_token(std::move(*token));
  co_return Result<void>{};
}

// False: a key that was not asked for.
bool Store::strip(std::vector<Pair>& pairs) const {
  const std::string prefix = cluster_.key("");
  for (auto& pair : pairs) {
    if (!pair.key.starts_with(prefix)) return false;
    pair.key.erase(0, prefix.size());
  }
  return true;
}

asio::awaitable<Result<Store::Page>> Store::read(Wanted wanted) {
  Range range{cluster_.key(wanted.below), {}};
  if (!wanted.is_single) range = range_below(std::move(range.first));
  if (!wanted.from.empty()) range.first = cluster_.key(wanted.from);
  const std::size_t limit = wanted.keys_only ? 1000 : page_size;
  std::string request = range_request(range, {wanted.revision, limit, wanted.keys_only});
  const auto answer = co_await connection_.call("/kv/range", std::move(request));
  if (!answer) co_return answer.error();
  auto page = parse_range(*answer);
  if (!page) co_return page.error();
  if (!is_within(range, page->pairs) || !strip(page->pairs)) {
    co_return Error{"the store sent a key that was not asked for"};
  }
  co_return Page{page->revision, std::move(page->pairs), page->has_more};
}

asio::awaitable<Result<Store::Page>> Store::read_all(Wanted wanted, std::size_t max_pairs,
                                                     const Sieve* sieve) {
  Page all;
  std::size_t count = 0;
  while (true) {
    auto page = co_await read(wanted);
    if (!page) co_return page.error();
    if (all.revision == 0) all.revision = wanted.revision = page->revision;
    const bool is_empty = page->pairs.empty();
    if (!is_empty) wanted.from = page->pairs.back().key + '\0';
    count += page->pairs.size();
    if (sieve != nullptr) (*sieve)(page->pairs);
    for (auto& pair : page->pairs) all.pairs.push_back(std::move(pair));
    if (count > max_pairs) {
      co_return Error{"the store has more than " + std::to_string(max_pairs) + " keys below " +
                      cluster_.key(wanted.below)};
    }
    if (!page->has_more) co_return all;
    if (is_empty) co_return Error{"the store sent an empty page"};
  }
}

asio::awaitable<Result<void>> Store::put(std::string name, std::string value, std::int64_t lease) {
  std::string request = put_request(cluster_.key(name), value, lease);
  const auto answer = co_await connection_.call("/kv/put", std::move(request));
  if (!answer) co_return answer.error();
  co_return Result<void>{};
}

asio::awaitable<Result<bool>> Store::replace(std::string name, std::string value,
                                             std::int64_t mod_revision) {
  std::string request = swap_request(cluster_.key(name), value, mod_revision);
  const auto answer = co_await connection_.call("/kv/txn", std::move(request));
  if (!answer) co_return answer.error();
  co_return parse_transaction(*answer);
}

asio::awaitable<Result<std::int64_t>> Store::grant_lease(std::int64_t seconds) {
  std::string request = grant_request(seconds);
  const auto answer = co_await connection_.call("/lease/grant", std::move(request));
  if (!answer) co_return answer.error();
  co_return parse_lease(*answer);
}

asio::awaitable<Result<bool>> Store::keep_lease(std::int64_t lease) {
  std::string request = keep_request(lease);
  const auto answer = co_await connection_.call("/lease/keepalive", std::move(request));
  if (!answer) co_return answer.error();
  co_return parse_kept_lease(*answer);
}

asio::awaitable<Result<void>> Store::watch(std::vector<std::string> names_below,
                                           std::int64_t revision) {
  std::vector<Range> ranges;
  for (const auto& name : names_below) {
    ranges.push_back(name.ends_with('/') ? range_below(cluster_.key(name))
                                         : Range{cluster_.key(name), {}});
  }
  std::string request = watch_request(ranges, revision);
  co_return co_await connection_.start_stream("/watch", std::move(request));
}

asio::awaitable<Result<Watched>> Store::next_changes() {
  const auto line = co_await connection_.next_line();
  if (!line) co_return line.error();
  auto watched = parse_watched(*line);
  if (!watched) co_return watched.error();
  if (!strip(watched->pairs)) co_return Error{"the store sent a key that was not asked for"};
  co_return watched;
}

}  // namespace stile::fleet
