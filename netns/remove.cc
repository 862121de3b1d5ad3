// remove: removes an agent, and reports the processes that are still inside.
#include "netns/remove.h"

#include <optional>

#include "base/ascii.h"
#include "base/quoted.h"
#include "netns/control.h"
#include "netns/namespaces.h"

namespace stile::netns {
namespace {

// The namespace itself, if it existed: it lives as long as a process is in it.
struct Left {
  bool was_there = false;
  std::optional<UniqueFd> namespace_fd;
};

Result<Left> remove_locked(FenceHost& host, const std::string& id, const std::string& instance,
                           const BeforeStep& before) {
  const auto lock = Lock::take();
  if (!lock) return lock.error();
  auto record = host.records.find(id);
  if (!record) return record.error();
  if (!*record || (!instance.empty() && (*record)->agent.instance != instance)) return Left{};
  auto fd = open_namespace(id);
  if (!fd) return fd.error();
  if (const auto done = remove_all(host, **record, before); !done) return done.error();
  return Left{true, std::move(*fd)};
}

}  // namespace

Result<Removed> remove(FenceHost& host, const std::string& id, bool kill,
                       const std::string& instance, const BeforeStep& before) {
  if (!is_plain_id(id)) return Error{in_quotes(id) + " is not an id of an agent"};
  const auto left = remove_locked(host, id, instance, before);
  if (!left) return left.error();
  Removed removed{left->was_there, {}, {}};
  if (!left->was_there) return removed;
  if (left->namespace_fd) {
    auto inside = kill ? kill_processes_in(*left->namespace_fd) : processes_in(*left->namespace_fd);
    if (!inside) return inside.error();
    removed.inside = std::move(*inside);
  }
  if (auto warning = notify_daemon(host.setup.control); !warning.empty()) {
    removed.warnings.push_back(std::move(warning));
  }
  return removed;
}

}  // namespace stile::netns
