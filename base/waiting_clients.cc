// WaitingClients: a short list, searched one by one.
#include "base/waiting_clients.h"

#include <algorithm>
#include <utility>

namespace stile {

void WaitingClients::add(const void* client, bool is_known, Close close) {
  remove(client);
  waiting_.push_back({client, is_known, std::move(close)});
}

void WaitingClients::remove(const void* client) {
  waiting_.remove_if([&](const Waiting& one) { return one.client == client; });
}

bool WaitingClients::close_one() {
  if (waiting_.empty()) return false;
  auto chosen = std::find_if(waiting_.begin(), waiting_.end(),
                             [](const Waiting& one) { return !one.is_known; });
  if (chosen == waiting_.end()) chosen = waiting_.begin();
  const auto close = std::move(chosen->close);
  waiting_.erase(chosen);
  close();
  return true;
}

}  // namespace stile
