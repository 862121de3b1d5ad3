// programs: finds the programs of PATH, and the files that belong to them.
#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>

#include "base/contains.h"
#include "confine/paths.h"
#include "confine/survey.h"

namespace stile::confine {
namespace {

namespace fs = std::filesystem;

constexpr int most_entries = 2000;  // of one directory of PATH

bool is_shown_anyway(const std::string& path, const PlanRequest& request) {
  return is_within_any(path, request.system) || is_within_any(path, request.programs);
}

// Directories that are never shown as a whole because of a program in them: a home, a directory
// that contains a home or the workspace, and the directories that the command gets as its own.
bool is_too_wide(const fs::path& directory, const PlanRequest& request) {
  const auto text = directory.string();
  const auto is_held = [&](const auto& path) { return is_within(path, text); };
  constexpr std::array<const char*, 7> own{"/tmp",  "/var/tmp", "/run", "/dev",
                                           "/proc", "/sys",     "/"};
  return text.empty() || std::any_of(own.begin(), own.end(), is_held) ||
         is_held(request.directory) || (!request.home.empty() && is_held(request.home)) ||
         std::any_of(request.homes.begin(), request.homes.end(), is_held) ||
         directory.filename() == ".local" || directory.filename() == ".config";
}

// A bin/ that is part of an installation (nvm, pipx, conda, pyenv) needs the directories beside it.
bool is_installation(const fs::path& directory, const fs::path& programs) {
  if (programs.filename() == "shims") return true;
  if (programs.filename() != "bin" && programs.filename() != "sbin") return false;
  constexpr std::array<const char*, 8> signs{"lib",      "lib64", "libexec",    "share",
                                             "installs", "tools", "pyvenv.cfg", "node_modules"};
  std::error_code failed;
  return std::any_of(signs.begin(), signs.end(),
                     [&](const char* sign) { return fs::exists(directory / sign, failed); });
}

fs::path outermost_modules(const fs::path& file) {
  fs::path found;
  for (fs::path at = file.parent_path(); at.has_relative_path(); at = at.parent_path()) {
    if (at.filename() == "node_modules") found = at;
  }
  return found;
}

// The whole place that a program outside of the directories of PATH needs; "": its file alone.
std::string installation_of(const fs::path& file, const PlanRequest& request) {
  if (const auto modules = outermost_modules(file); !modules.empty()) return modules.string();
  const auto directory = file.parent_path(), above = directory.parent_path();
  const bool is_whole = is_installation(above, directory) && !is_too_wide(above, request);
  return is_whole ? above.string() : std::string{};
}

// As follow(), but not to where only a link of an earlier command leads.
std::string follow_safely(const std::string& path, PlanRequest& request) {
  bool has_own_link = false;
  auto real = follow(path, request, &has_own_link);
  if (!has_own_link || real.empty() || is_own(real, request)) return real;
  if (is_shown_anyway(real, request) || is_within_any(real, request.read)) return {};
  const auto whole = installation_of(real, request);
  LeftOut left{path, whole.empty() ? real : whole};
  if (!contains(request.left_out, left)) request.left_out.push_back(std::move(left));
  return {};
}

void add_program_place(const fs::path& place, PlanRequest& request) {
  if (is_too_wide(place, request) || is_shown_anyway(place.string(), request)) return;
  request.programs.push_back(place.string());
}

void add_directory(const fs::path& directory, PlanRequest& request) {
  const auto above = directory.parent_path();
  const bool is_whole = is_installation(above, directory) && !is_too_wide(above, request);
  add_program_place(is_whole ? above : directory, request);
  if (above.filename() == ".cargo") {
    std::error_code failed;
    const auto toolchains = above.parent_path() / ".rustup";
    if (fs::is_directory(toolchains, failed)) add_program_place(toolchains, request);
  }
}

// A program may be a link to an installation elsewhere (~/.local/bin/aider).
void add_file(const fs::path& file, PlanRequest& request) {
  if (is_shown_anyway(file.string(), request)) return;
  if (const auto whole = installation_of(file, request); !whole.empty()) {
    add_program_place(whole, request);
  } else if (!is_within(file.string(), request.directory)) {
    request.programs.push_back(file.string());
  }
}

void add_links_of(const std::string& directory, PlanRequest& request) {
  std::error_code failed;
  fs::directory_iterator at{directory, failed};
  for (int count = 0; !failed && at != fs::directory_iterator{} && count < most_entries;
       at.increment(failed), ++count) {
    std::error_code ignored;
    if (!at->is_symlink(ignored)) continue;
    const auto real = follow_safely(at->path().string(), request);
    if (!real.empty()) add_file(real, request);
  }
}

}  // namespace

void add_programs(const std::string& path_variable, const std::string& command,
                  PlanRequest& request) {
  std::vector<std::string> directories;
  std::istringstream words{path_variable};
  for (std::string word; std::getline(words, word, ':');) {
    if (word.starts_with('/')) directories.push_back(word);
  }
  if (command.find('/') != std::string::npos) {
    std::error_code failed;
    const auto file = fs::absolute(command, failed).lexically_normal();
    const auto real = follow_safely(file.string(), request);
    if (!real.empty()) add_file(real, request);
    directories.push_back(file.parent_path().string());
  }
  // Those first that show what links of the command's own may lead to.
  std::stable_partition(directories.begin(), directories.end(),
                        [&](const auto& directory) { return !is_own(directory, request); });
  std::vector<std::string> seen;
  for (const auto& directory : directories) {
    const auto real = follow_safely(directory, request);
    if (real.empty() || contains(seen, real)) continue;
    seen.push_back(real);
    const bool is_systems = is_shown_anyway(real, request) && !is_within(real, request.directory);
    add_directory(real, request);
    if (!is_systems) add_links_of(real, request);
  }
}

}  // namespace stile::confine
