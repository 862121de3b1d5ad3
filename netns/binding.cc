// binding: what binds an id to an address.
#include "netns/binding.h"

#include <algorithm>
#include <filesystem>

#include "netns/pool.h"

namespace stile::netns {
namespace {

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored);
}

Result<acl::Address> only_address(const KnownAgent& known) {
  if (known.source.size() == 1 && known.source[0].length == 32 && known.source[0].address.is_v4()) {
    return known.source[0].address;
  }
  return Error{known.file + ": agent " + known.id +
               " needs exactly one address as `source` to live in a namespace"};
}

Result<AgentBinding> bind_known(const KnownAgent& known, const CardRequest& request) {
  const bool is_its_own = request.file && is_same_file(*request.file, known.file);
  if (!request.says_nothing() && !(is_its_own && request.allow.empty() && !request.ttl)) {
    return Error{"agent " + known.id + " is in " + known.file +
                 " already, which the daemon reads; change it there"};
  }
  const auto address = only_address(known);
  if (!address) return address.error();
  return AgentBinding{known.file, *address, {}};
}

Result<AgentBinding> bind_new(const std::string& id, const CardRequest& request) {
  auto card = read_template(request, id);
  if (!card) return Error{card.error().text()};
  const auto address = address_in(*card);
  if (!address) return Error{request.file.value_or("create") + ": " + address.error().message};
  return AgentBinding{{}, *address, std::move(*card)};
}

}  // namespace

Result<AgentBinding> bind_agent(const config::NetnsSettings& settings,
                                std::span<const KnownAgent> known, const std::string& id,
                                const CardRequest& request) {
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const KnownAgent& agent) { return agent.id == id; });
  auto binding = found == known.end() ? bind_new(id, request) : bind_known(*found, request);
  if (binding && binding->address && !is_for_agents(settings, *binding->address)) {
    return Error{"agent " + id + " cannot have the address " + binding->address->text() +
                 ": it is not one of " + settings.subnet.text() + " or has another use"};
  }
  return binding;
}

}  // namespace stile::netns
