// The floor once more, on Boost.Asio: what Stile's own loop is compared with.
//
// Both ways do what `floor` does when it copies: read the head of a CONNECT, dial the one origin,
// answer, move bytes until one side ends. They wait for readiness and read into one shared buffer,
// because a read that is pending for each idle tunnel would need a buffer for each.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <string_view>

namespace stile::bench {

using Tcp = boost::asio::ip::tcp;

constexpr std::string_view established = "HTTP/1.1 200 Connection established\r\n\r\n";
constexpr std::size_t max_head_bytes = 8192;

inline std::array<char, 256UL * 1024> shared_buffer;

// Each serves the accepted client and owns itself.
void serve_by_callbacks(Tcp::socket client, const Tcp::endpoint& origin);
void serve_by_coroutines(Tcp::socket client, const Tcp::endpoint& origin);

}  // namespace stile::bench
