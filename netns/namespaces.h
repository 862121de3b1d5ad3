// namespaces: a network namespace owned by its own user namespace, and how to enter it.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "netns/agent.h"

namespace stile::netns {

// Where ip(8) keeps named namespaces, and where systemd's NetworkNamespacePath finds them.
inline constexpr const char* namespace_directory = "/run/netns";
[[nodiscard]] std::string namespace_path(std::string_view id);

// Creates both namespaces and keeps the network namespace alive by a file of that name; the user
// namespace lives as long as what it owns. Its ids are `uids`: 0 inside is the first, 65534 the
// last.
[[nodiscard]] Result<void> make_namespace(std::string_view id, const UidRange& uids);

// nullopt: no namespace of that name (an empty file, left by a killed process, does not count).
[[nodiscard]] Result<std::optional<UniqueFd>> open_namespace(std::string_view id);

// The user namespace that owns it. An error if that is our own: then another tool (`ip netns add`)
// created the namespace, and root inside would be root of the host.
[[nodiscard]] Result<UniqueFd> owner_of(const UniqueFd& namespace_fd);

// False: neither namespace nor file existed.
[[nodiscard]] Result<bool> remove_namespace(std::string_view id);

// The calling thread is in another network namespace during the lifetime of this object.
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
