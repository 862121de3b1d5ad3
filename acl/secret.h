// Secret: a credential that Stile puts into requests, and its value. Agents never see it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "acl/path_pattern.h"
#include "acl/pattern.h"
#include "base/result.h"
#include "base/secret_bytes.h"

namespace stile::acl {

// The detail of an internal-error that is not a bug.
inline constexpr std::string_view no_secret_value = "a secret of this host has no value";

// The value in force. The main thread replaces it; workers read it for each request.
class SecretValue {
 public:
  [[nodiscard]] std::shared_ptr<const SecretBytes> get() const;  // null: there is none yet
  void set(std::string_view value, std::int64_t now_us);
  void clear();
  [[nodiscard]] std::int64_t changed_us() const;
  void note_use(std::int64_t now_us) noexcept;
  [[nodiscard]] std::int64_t used_us() const;  // 0: never

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const SecretBytes> bytes_;
  std::int64_t changed_us_ = 0, used_us_ = 0;
};

struct Secret {
  std::string name;
  std::vector<Pattern> hosts;
  std::vector<PathPattern> paths;  // empty: any
  std::string header;              // as written in the config
  std::string format = "{}";
  std::string basic_user;    // not empty: HTTP Basic with this user name
  bool refuses_own = false;  // a credential of the agent's own is refused, not replaced
  std::string agent_env;     // the variable that gets the placeholder
  std::string placeholder;   // empty: one is made for each agent
  std::shared_ptr<SecretValue> value;

  // The value of the header if this is the secret: used with the real one and the placeholder.
  [[nodiscard]] std::string header_value(std::string_view secret) const;
};

// A secret as one agent uses it.
struct AgentSecret {
  std::shared_ptr<const Secret> secret;
  std::string placeholder;
};

// What an agent gets in place of a secret. It is made from the names alone, so that every program
// makes the same one, and has the shape that clients of these hosts check (sk-ant-…, ghp_…).
[[nodiscard]] std::string placeholder_of(std::string_view agent, const Secret& secret);

// Whether a text can be a secret's value; an error says why not.
[[nodiscard]] Result<void> check_secret_value(std::string_view value);

}  // namespace stile::acl
