// RunControl: the policy of one command without a daemon, and the socket through which its operator
// reads and changes it.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <thread>

#include "audit/log.h"
#include "base/unique_fd.h"
#include "control/file_policy.h"
#include "control/policy_editor.h"
#include "control/server.h"
#include "proxy/commands/commands.h"
#include "proxy/server/worker.h"
#include "proxy/session/context.h"

namespace stile::server {

class RunControl {
 public:
  // Nothing survives the command: there is no state file.
  RunControl(control::FilePolicyPtr base, audit::Log& log);
  ~RunControl();

  [[nodiscard]] const control::PolicyEditor& editor() const noexcept { return editor_; }
  [[nodiscard]] commands::AskService& asks() noexcept { return asks_; }
  // Runs on its own thread. Without a socket there are no requests, and only time changes the
  // policy.
  void start(session::Shared& shared, Workers& workers, UniqueFd socket);
  // Call this before the workers are stopped.
  void stop();

 private:
  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  commands::AskService asks_;  // outlives the editor, which saves them
  control::PolicyEditor editor_;
  audit::Log& log_;
  std::unique_ptr<commands::Commands> commands_;
  std::unique_ptr<control::ControlServer> server_;
  std::thread thread_;
};

}  // namespace stile::server
