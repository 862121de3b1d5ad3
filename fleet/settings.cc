// settings: [fleet] of a config, and the keys of its signers.
#include "fleet/settings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/ascii.h"
#include "base/files.h"
#include "base/quoted.h"
#include "base/system_error.h"
#include "base/unique_fd.h"
#include "config/fleet_values.h"
#include "config/load.h"
#include "config/toml_loader.h"

namespace stile::fleet {
namespace {

constexpr std::size_t max_key_bytes = 65536;

}  // namespace

Result<std::string> read_small_file(const std::string& path, std::size_t max_bytes) {
  const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) return system_error(path);
  auto text = read_all(file.get(), max_bytes);
  if (!text) return Error{path + ": " + text.error().message};
  return text;
}

Result<config::FleetSettings> read_settings(const std::string& path) {
  const auto text = read_small_file(path, config::max_toml_bytes);
  if (!text) return text.error();
  const auto settings = config::parse_settings(*text, path);
  if (!settings) return Error{settings.error().text()};
  return settings->fleet;
}

Result<std::string> read_signing_key(std::string path) {
  if (const char* set = std::getenv("STILE_FLEET_KEY"); path.empty() && set != nullptr) path = set;
  if (path.empty()) {
    return Error{
        "name the key that signs with --key or STILE_FLEET_KEY\n"
        "  next: stile fleet keygen fleet.key"};
  }
  // A user who can read it can sign policy for every host. A pipe belongs to the shell of the
  // caller.
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
      (status.st_mode & S_IRWXO) != 0) {
    return Error{"other users can read " + path + "\n  next: chmod 600 " + shell_word(path)};
  }
  return read_small_file(path, max_key_bytes);
}

Result<Signers> read_signers(const config::FleetSettings& settings) {
  Signers signers;
  for (const auto& path : settings.signers) {
    const auto pem = read_small_file(path, max_key_bytes);
    if (!pem) return pem.error();
    if (const auto added = signers.add(*pem); !added) {
      return Error{path + ": " + added.error().message};
    }
  }
  if (signers.is_empty()) return Error{"fleet.signers is empty: no object could ever count"};
  return signers;
}

Result<FleetMember> member_of(const config::FleetSettings& settings) {
  FleetMember member{settings.host, settings.labels};
  if (!member.host.empty()) return member;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return system_error("the host name");
  member.host = lower_case(name.data());
  if (!config::is_fleet_name(member.host)) {
    return Error{"the host name cannot be used; set fleet.host"};
  }
  return member;
}

}  // namespace stile::fleet
