// StoreConnection: one TLS connection to a node of etcd, for requests or for a watch.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "base/result.h"
#include "config/fleet_values.h"
#include "config/settings.h"

namespace stile::fleet {

// With the roots, and the certificate of this host if there is one.
[[nodiscard]] Result<boost::asio::ssl::context> make_tls(const config::FleetSettings& settings);

class StoreConnection {
 public:
  // `tls` outlives it.
  StoreConnection(boost::asio::io_context& context, boost::asio::ssl::context& tls,
                  config::StoreAddress address);
  ~StoreConnection();
  StoreConnection(const StoreConnection&) = delete;
  StoreConnection& operator=(const StoreConnection&) = delete;

  // Connects and checks the certificate.
  [[nodiscard]] boost::asio::awaitable<Result<void>> open();
  // Sent with every request from now on.
  void set_token(std::string token);
  // One request, such as "/kv/range". An answer that is too large, too slow or not a 200 is an
  // error; after one, use another connection.
  [[nodiscard]] boost::asio::awaitable<Result<std::string>> call(std::string path,
                                                                 std::string body);
  // Starts a stream; its lines come from next_line(), which waits as long as it takes.
  [[nodiscard]] boost::asio::awaitable<Result<void>> start_stream(std::string path,
                                                                  std::string body);
  [[nodiscard]] boost::asio::awaitable<Result<std::string>> next_line();
  // What waits on it ends with an error.
  void close();

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace stile::fleet
