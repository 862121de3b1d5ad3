// secrets: names that usually hold keys, tokens and passwords.
#include <algorithm>
#include <array>

#include "confine/paths.h"
#include "confine/plan.h"

namespace stile::confine {
namespace {

// Directory and name; "" is any directory. Names that projects also use (.npmrc, .docker/) are
// listed only with the directory in which they are secret.
struct SecretName {
  std::string_view directory, name;
};
constexpr std::array<SecretName, 24> secret_names{{
    {"", ".ssh"},
    {"", ".gnupg"},
    {"", ".aws"},
    {"", ".azure"},
    {"", ".netrc"},
    {"", "_netrc"},
    {"", ".git-credentials"},
    {"", ".pgpass"},
    {"", ".my.cnf"},
    {"", ".pypirc"},
    {"", ".vault-token"},
    {"", ".password-store"},
    {".cargo", "credentials"},
    {".cargo", "credentials.toml"},
    {".docker", "config.json"},
    {".kube", "config"},
    {".config", "gcloud"},
    {".config", "gh"},
    {".config", "hub"},
    {".config", "rclone"},
    {".config", "google-chrome"},
    {".config", "chromium"},
    {"share", "keyrings"},
    {"", ".mozilla"},
}};

// Templates without values, committed to repositories.
constexpr std::array<std::string_view, 6> harmless_endings{".example", ".sample",   ".template",
                                                           ".dist",    ".defaults", ".schema"};

// .env, .envrc, .env.local, .env-prod, .env_prod
bool is_variables_file(std::string_view name) noexcept {
  constexpr std::string_view stem = ".env";
  if (!name.starts_with(stem)) return false;
  const auto rest = name.substr(stem.size());
  if (rest.empty() || rest == "rc") return true;
  return std::string_view{"._-"}.find(rest.front()) != std::string_view::npos &&
         std::none_of(harmless_endings.begin(), harmless_endings.end(),
                      [&](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace

bool is_secret(std::string_view directory, std::string_view name, bool is_directory) noexcept {
  if (is_variables_file(name)) return !is_directory;  // .env/ is a Python environment
  return std::any_of(secret_names.begin(), secret_names.end(), [&](const SecretName& secret) {
    return secret.name == name && (secret.directory.empty() || secret.directory == directory);
  });
}

bool is_in_secret(const std::string& path, const std::vector<std::string>& shown) {
  const std::string* innermost = nullptr;
  for (const auto& place : shown) {
    const bool is_deeper = innermost == nullptr || place.size() > innermost->size();
    if (is_within(path, place) && is_deeper) innermost = &place;
  }
  if (innermost == nullptr) return false;
  std::string_view directory = *innermost;
  directory.remove_prefix(directory.rfind('/') + 1);
  for (auto at = innermost->size(); at < path.size();) {
    const auto end = std::min(path.find('/', at + 1), path.size());
    const auto name = std::string_view{path}.substr(at + 1, end - at - 1);
    const bool is_last = end == path.size();
    if (is_secret(directory, name, true) || (is_last && is_secret(directory, name, false))) {
      return true;
    }
    directory = name;
    at = end;
  }
  return false;
}

}  // namespace stile::confine
