// gather: asks every worker for its part and combines the parts on the main thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "proxy/server/worker.h"

namespace stile::server {

using Workers = std::vector<std::unique_ptr<Worker>>;

// `done` gets one part per worker, or fewer if a worker does not answer within two seconds.
template <class Part>
void gather(boost::asio::io_context& context, Workers& workers,
            std::function<Part(session::Context&)> ask,
            std::function<void(std::vector<Part>)> done) {
  struct Gathering {
    explicit Gathering(boost::asio::io_context& io) : deadline{io} {}
    void finish() {
      if (!done) return;
      deadline.cancel();
      std::exchange(done, nullptr)(std::move(parts));
    }
    std::size_t missing = 0;
    std::vector<Part> parts;
    std::function<void(std::vector<Part>)> done;
    boost::asio::steady_timer deadline;
  };
  auto all = std::make_shared<Gathering>(context);
  all->missing = workers.size();
  all->done = std::move(done);
  all->deadline.expires_after(std::chrono::seconds{2});
  all->deadline.async_wait([all](const boost::system::error_code& ec) {
    if (!ec) all->finish();
  });
  for (auto& worker : workers) {
    worker->post([&context, all, ask](session::Context& asked) {
      boost::asio::post(context, [all, part = ask(asked)]() mutable {
        all->parts.push_back(std::move(part));
        if (--all->missing == 0) all->finish();
      });
    });
  }
}

}  // namespace stile::server
