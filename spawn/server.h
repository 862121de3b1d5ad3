// SpawnServer: the spawner's socket. Reads requests and writes answers; knows nothing of their
// contents.
#pragma once

#include <systemd/sd-event.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "spawn/event_source.h"
#include "spawn/journal.h"

namespace stile::spawn {

// Answers one request; may be called later, and after its client has gone.
using Reply = std::function<void(const std::string& answer)>;
using Serve = std::function<void(const Caller& peer, const std::string& request, Reply reply)>;

class SpawnServer {
 public:
  SpawnServer(sd_event* loop, UniqueFd listener, Serve serve);
  ~SpawnServer();
  SpawnServer(const SpawnServer&) = delete;
  SpawnServer& operator=(const SpawnServer&) = delete;
  [[nodiscard]] Result<void> start();

 private:
  class Connection;
  static int on_client(sd_event_source* source, int fd, std::uint32_t events, void* userdata);
  void accept();
  void answer(std::uint64_t id, const std::string& text);

  sd_event* loop_;
  UniqueFd listener_;
  Serve serve_;
  EventSource ready_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;
};

}  // namespace stile::spawn
