// WaitingClients: the clients that a server waits for, and which of them gives way to a new one.
#pragma once

#include <cstddef>
#include <functional>
#include <list>

namespace stile {

class WaitingClients {
 public:
  using Close = std::function<void()>;

  // `is_known`: it has proved who it is before. `close` is called at most once.
  void add(const void* client, bool is_known, Close close);
  void remove(const void* client);
  // Closes the client that has waited for longest; a known one only if all are known. False: no
  // client waits.
  bool close_one();
  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }

 private:
  struct Waiting {
    const void* client;
    bool is_known;
    Close close;
  };
  std::list<Waiting> waiting_;  // in the order of their arrival
};

}  // namespace stile
