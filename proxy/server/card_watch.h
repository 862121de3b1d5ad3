// CardWatch: reports that a directory of agent cards may have changed, after a short delay.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace stile::server {

class CardWatch {
 public:
  CardWatch(boost::asio::io_context& context, std::function<void()> on_change);

  // Watches these from now on and no others. Missing ones are looked for at look_again().
  void watch(std::vector<std::string> directories);
  // About once a second: a directory may have been created or replaced.
  void look_again();
  void stop();

 private:
  void wait();
  void settle();

  boost::asio::posix::stream_descriptor events_;
  boost::asio::steady_timer settled_;
  std::function<void()> on_change_;
  std::vector<std::string> directories_;
  std::map<std::string, int> watches_;
  bool is_settling_ = false;
};

}  // namespace stile::server
