// SecretKeeper: the values of secrets over reloads, and commands that are run again in time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "config/diagnostics.h"
#include "config/secrets.h"
#include "proxy/server/secret_helper.h"

namespace stile::server {

class SecretKeeper {
 public:
  SecretKeeper() = default;
  ~SecretKeeper();
  SecretKeeper(const SecretKeeper&) = delete;
  SecretKeeper& operator=(const SecretKeeper&) = delete;

  // For the commands of these secrets, before the sandbox and the first thread; see SecretHelper.
  // Does nothing if there are none. Any other command is an error later.
  [[nodiscard]] Result<void> start_helper(const config::Secrets& secrets);

  // Completes the secrets of a config that was just read: values of commands, and the ages of
  // values and last uses that an earlier config knew. Runs new commands. From the thread that
  // reads.
  void fill(const config::Secrets& secrets, config::Diagnostics& problems);

  // Starts the thread that runs commands again, if there is a helper.
  void start();

 private:
  // A value of a config that is or was in force, or that is being read.
  struct Held {
    std::string name;
    std::vector<std::string> command;  // empty: it comes from a file
    std::int64_t refresh_us = 0;       // 0: never
    std::weak_ptr<acl::SecretValue> value;
    std::int64_t got_us = 0, due_us = 0;
  };
  void run();
  void run_again(const Held& due);
  void forget_old();
  [[nodiscard]] Result<std::string> value_of(const std::vector<std::string>& command);
  [[nodiscard]] const Held* find_due() const;

  std::unique_ptr<SecretHelper> helper_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Held> held_;
  bool is_ended_ = false;
  std::thread thread_;
};

}  // namespace stile::server
