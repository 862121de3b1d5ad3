// A tunnel on Asio's coroutines.
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <string>

#include "bench/asio_floor/sessions.h"

namespace stile::bench {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using Failure = boost::system::error_code;

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

struct Ends {
  Tcp::socket client, origin;
};

void close_both(Ends& ends) {
  Failure ignored;
  ends.client.close(ignored);
  ends.origin.close(ignored);
}

awaitable<void> pump(std::shared_ptr<Ends> ends, bool up) {
  Tcp::socket& from = up ? ends->client : ends->origin;
  Tcp::socket& to = up ? ends->origin : ends->client;
  std::string unsent;
  for (;;) {
    const auto [gone] = co_await from.async_wait(Tcp::socket::wait_read, as_result);
    if (gone) co_return;
    Failure error;
    const std::size_t size = from.read_some(asio::buffer(shared_buffer), error);
    if (error == asio::error::would_block) continue;
    if (error) co_return close_both(*ends);
    std::size_t sent = to.write_some(asio::buffer(shared_buffer, size), error);
    if (error && error != asio::error::would_block) co_return close_both(*ends);
    if (sent < size) unsent.assign(shared_buffer.data() + sent, size - sent);
    while (!unsent.empty()) {
      const auto [ended] = co_await to.async_wait(Tcp::socket::wait_write, as_result);
      if (ended) co_return;
      sent = to.write_some(asio::buffer(unsent), error);
      if (error && error != asio::error::would_block) co_return close_both(*ends);
      unsent.erase(0, sent);
    }
  }
}

awaitable<void> serve(Tcp::socket client, Tcp::endpoint to) {
  Failure error;
  std::string head;
  while (head.find("\r\n\r\n") == std::string::npos) {
    if (head.size() >= max_head_bytes) co_return;
    const auto [gone] = co_await client.async_wait(Tcp::socket::wait_read, as_result);
    if (gone) co_return;
    const std::size_t size = client.read_some(asio::buffer(shared_buffer), error);
    if (error && error != asio::error::would_block) co_return;
    head.append(shared_buffer.data(), size);
  }
  Tcp::socket origin{client.get_executor()};
  const auto [refused] = co_await origin.async_connect(to, as_result);
  if (refused) co_return;
  origin.non_blocking(true, error);
  client.write_some(asio::buffer(established), error);  // a fresh socket takes it at once
  if (error) co_return;
  auto ends = std::make_shared<Ends>(Ends{std::move(client), std::move(origin)});
  asio::co_spawn(ends->client.get_executor(), pump(ends, false), asio::detached);
  asio::co_spawn(ends->client.get_executor(), pump(ends, true), asio::detached);
}

}  // namespace

void serve_by_coroutines(Tcp::socket client, const Tcp::endpoint& origin) {
  auto executor = client.get_executor();
  asio::co_spawn(executor, serve(std::move(client), origin), asio::detached);
}

}  // namespace stile::bench
