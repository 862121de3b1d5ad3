// Capability: a name for requests that belong together, such as "github:read acme/app".
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/capability_parameter.h"
#include "config/diagnostics.h"
#include "config/digest.h"
#include "config/node.h"
#include "config/settings.h"

namespace stile::config {

// The [[secret]] that these requests usually need, for people.
struct SecretAdvice {
  std::string header, format, basic_user, agent_env;
};

struct Capability {
  std::string name;  // "github:read"
  std::string about;
  Place place;
  std::vector<ParameterForm> parameters;
  std::vector<Node> requests;        // as read_request reads them, with {parameter} in the strings
  std::vector<std::string> cannot;   // what it does not prevent, a sentence each
  std::vector<std::string> clients;  // what to set in clients, a sentence each
  std::optional<SecretAdvice> secret;

  [[nodiscard]] std::string usage() const;  // "github:read OWNER/NAME"
};

class Capabilities {
 public:
  // All *.toml of these directories. A capability of a later directory replaces one of the same
  // name before it; twice in one directory is an error. A directory that does not exist is empty.
  // The files must be trusted, see trust.h.
  [[nodiscard]] static Checked<Capabilities> load(const std::vector<std::string>& directories,
                                                  uid_t owner);

  [[nodiscard]] const Capability* find(const std::string& name) const;
  [[nodiscard]] const std::map<std::string, Capability>& all() const noexcept { return all_; }

  // What an entry of `can` allows; an error says what is wrong with the entry.
  [[nodiscard]] Result<std::vector<RequestSettings>> expand(std::string_view text) const;

 private:
  std::map<std::string, Capability> all_;
};

// One file. Every request is tried with sample parameters, so that an error in it is found here.
[[nodiscard]] Checked<std::vector<Capability>> parse_capabilities(std::string_view text,
                                                                  const std::string& file);

// The requests of one capability with these parameters.
[[nodiscard]] Result<std::vector<RequestSettings>> expand(const Capability& capability,
                                                          const std::vector<std::string>& words);

// $STILE_CAPABILITIES with `:` between its directories; else the installed ones and then
// /etc/stile/capabilities.d.
[[nodiscard]] std::vector<std::string> capability_directories();

// The content of all files of these directories.
void add_capability_files(const std::vector<std::string>& directories, Digest& digest);

// The files of the system, read when they are needed first.
class CapabilityFiles {
 public:
  explicit CapabilityFiles(uid_t owner) : owner_{owner} {}
  [[nodiscard]] const Checked<Capabilities>& get();
  // Reads the files again if they had errors.
  void forget_failures();

 private:
  uid_t owner_;
  std::optional<Checked<Capabilities>> loaded_;
};

// All requests of an agent: those of its entries, then those of its capabilities, each with the
// line of its entry. Errors are reported at that entry.
[[nodiscard]] std::vector<RequestSettings> all_requests(const AgentSettings& agent,
                                                        CapabilityFiles& files,
                                                        Diagnostics& problems);

}  // namespace stile::config
