// Worker and gather: the workers as the commands use them.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "proxy/session/context.h"

namespace stile::commands {

// What the commands need from one worker.
class WorkerPort {
 public:
  // Runs on the worker's thread; call it from any other.
  virtual void post(std::function<void(session::Context&)> work) = 0;
  // Serves a listener as that agent until release(); then its connections are reset.
  virtual void lend(std::uint64_t number, UniqueFd listener, std::string agent) = 0;
  // The same for what is captured: a name server's UDP socket, or a listener for connections to
  // addresses that stand for names and to port 53 of the name server.
  virtual void lend_capture(std::uint64_t number, UniqueFd socket, std::string agent,
                            const acl::Address& name_server) = 0;
  virtual void release(std::uint64_t number) = 0;

 protected:
  ~WorkerPort() = default;
};
using WorkerPorts = std::vector<WorkerPort*>;

// Asks every worker for its part and combines the parts on the main thread. `done` gets one part
// per worker, or fewer if a worker does not answer within two seconds.
template <class Part, class Pool>
void gather(boost::asio::io_context& context, Pool& workers,
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

}  // namespace stile::commands
