// namespaces: a network namespace owned by a user namespace of its own, and how to enter it.
#pragma once

#include <optional>
#include <string>

#include "acl/result.h"
#include "netns/agent.h"
#include "proxy/base/unique_fd.h"

namespace stile::netns {

// Where ip(8) keeps namespaces by name, and systemd's NetworkNamespacePath looks for them.
inline constexpr const char* namespace_directory = "/run/netns";
[[nodiscard]] std::string namespace_path(std::string_view id);

// Makes both namespaces and keeps the network one by a file of that name; the user namespace lives
// as long as what it owns. Its ids are those of `uids`: 0 inside is the first, 65534 the last.
[[nodiscard]] Result<void> make_namespace(std::string_view id, const UidRange& uids);

// nullopt: there is no namespace of that name (an empty file, left by a killed process, is none).
[[nodiscard]] Result<std::optional<UniqueFd>> open_namespace(std::string_view id);

// The user namespace that owns it. An error if that is our own: such a namespace was made by
// somebody else (`ip netns add`), and root inside would be root of the host.
[[nodiscard]] Result<UniqueFd> owner_of(const UniqueFd& namespace_fd);

// False: there was neither namespace nor file.
[[nodiscard]] Result<bool> remove_namespace(std::string_view id);

// The calling thread is in another network namespace as long as this lives.
class NamespaceVisit {
 public:
  static Result<NamespaceVisit> enter(const UniqueFd& namespace_fd);
  static Result<NamespaceVisit> enter_new();  // an empty one, which ends with the visit
  NamespaceVisit(NamespaceVisit&&) = default;
  NamespaceVisit& operator=(NamespaceVisit&&) = delete;
  ~NamespaceVisit();

 private:
  explicit NamespaceVisit(UniqueFd home) : home_{std::move(home)} {}
  UniqueFd home_;
};

}  // namespace stile::netns
