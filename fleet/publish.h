// publish: what people do with a fleet: sign, publish, look. Blocking; tries one endpoint after
// the other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "fleet/envelope.h"
#include "fleet/signing.h"
#include "fleet/store.h"

namespace stile::fleet {

// The body of a policy from a file with [egress], [[agent]] and [[secret]], in TOML or (*.json)
// JSON: canonical, and without an error that a host would find.
[[nodiscard]] Result<std::string> policy_body(const std::string& name, const std::string& file);

// An object before it has a serial and a signature.
struct Draft {
  std::string name;  // "policy/base", "switch"
  Envelope envelope;
  // Set: the key must be as it was at that revision of the store; 0: there is no such key.
  std::optional<std::int64_t> revision = std::nullopt;
};

// Signs with the next serial and writes it, unless another publisher did so meanwhile. A serial
// other than 0 is kept. Returns what was written.
[[nodiscard]] Result<Envelope> publish(Cluster& cluster, Draft draft,
                                       const std::string& private_pem);
// Writes an object that was signed elsewhere.
[[nodiscard]] Result<Envelope> publish_signed(Cluster& cluster, const std::string& name,
                                              const std::string& text);

// The results of a candidate so far, by host.
[[nodiscard]] Result<std::map<std::string, std::string>> read_results(Cluster& cluster,
                                                                      const std::string& id);

struct Overview {
  struct Object {
    std::string text, problem;  // problem: why no host takes it; empty: it is good
    std::optional<Envelope> envelope;
    std::int64_t mod_revision = 0;
  };
  std::map<std::string, Object> objects;
  std::map<std::string, std::string> hosts;    // their entries, as they wrote them
  std::map<std::string, std::string> budgets;  // bytes that are handed out
};
[[nodiscard]] Result<Overview> look(Cluster& cluster, const Signers& signers);

}  // namespace stile::fleet
