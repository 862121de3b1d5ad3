// RunControl: the policy of one command without a daemon, and the socket through which its operator
// reads and changes it.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <thread>

#include "audit/log.h"
#include "base/unique_fd.h"
#include "control/base.h"
#include "control/server.h"
#include "proxy/server/control_service.h"
#include "proxy/server/gather.h"
#include "proxy/server/policy_desk.h"
#include "proxy/session/context.h"

namespace stile::server {

class RunControl {
 public:
  // Nothing survives the command: there is no state file.
  RunControl(control::BasePtr base, audit::Log& log);
  ~RunControl();

  [[nodiscard]] const PolicyDesk& desk() const noexcept { return desk_; }
  // Runs on its own thread. Without a socket there are no requests, and only time changes the
  // policy.
  void start(session::Shared& shared, Workers& workers, UniqueFd socket);
  // Call this before the workers are stopped.
  void stop();

 private:
  // Refuses requests that need a daemon: a command has no files, listeners or lifetime of its own.
  class Commands final : public control::Service {
   public:
    explicit Commands(ControlService& all) : all_{all} {}
    void serve(const control::Request& request, const control::ConnectionPtr& client) override;
    void on_closed(control::Connection& client) override { all_.on_closed(client); }

   private:
    ControlService& all_;
  };

  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  PolicyDesk desk_;
  audit::Log& log_;
  std::unique_ptr<ControlService> service_;
  std::unique_ptr<Commands> commands_;
  std::unique_ptr<control::Server> server_;
  std::thread thread_;
};

}  // namespace stile::server
