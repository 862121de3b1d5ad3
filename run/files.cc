// files: what the command sees of the host's files, and its environment variables.
#include "run/files.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/quoted.h"
#include "confine/environment.h"
#include "confine/survey.h"
#include "confine/trust.h"
#include "run/loopback.h"

namespace stile::run {
namespace {

namespace fs = std::filesystem;

// Homes that must not become a workspace as a whole: the caller's under both names, and root's.
void add_homes(const std::vector<std::string>& environment, confine::PlanRequest& request) {
  std::vector<std::string> homes{variable(environment, "HOME"), "/root"};
  // NOLINTNEXTLINE(concurrency-mt-unsafe): before the first thread
  if (const passwd* entry = ::getpwuid(::geteuid())) homes.emplace_back(entry->pw_dir);
  for (const auto& home : homes) {
    std::error_code failed;
    const auto real = fs::canonical(home, failed).string();
    if (!failed && real.size() > 1) request.homes.push_back(real);
  }
}

confine::Workspace workspace_of(config::WorkspaceAccess access) {
  switch (access) {
    case config::WorkspaceAccess::write:
      return confine::Workspace::writable;
    case config::WorkspaceAccess::read:
      return confine::Workspace::read_only;
    case config::WorkspaceAccess::none:
      break;
  }
  return confine::Workspace::none;
}

// The caller's variables, with those of the card and the profile.
std::vector<std::string> given_variables(const std::vector<std::string>& environment,
                                         const std::vector<config::Variable>& more) {
  auto given = environment;
  for (const auto& one : more) {
    const auto start = one.name + '=';
    std::erase_if(given, [&](const std::string& other) { return other.starts_with(start); });
    given.push_back(start + one.value);
  }
  return given;
}

void add_log(const Options& options, confine::PlanRequest& request, confine::ViewRequest& view) {
  struct stat status {};
  if (!options.audit || ::stat(options.audit->c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return;
  }
  std::error_code failed;
  request.log = fs::canonical(*options.audit, failed).string();
  view.log.emplace(status.st_dev, status.st_ino);
}

// Their names may be chosen by an earlier command.
std::vector<std::string> notices_of(const std::vector<confine::LeftOut>& left_out) {
  constexpr std::size_t most = 3;
  std::vector<std::string> lines;
  for (const auto& one : left_out) {
    if (lines.size() == most) {
      lines.push_back("not shown: " + std::to_string(left_out.size() - most) + " more like these");
      break;
    }
    lines.push_back("not shown: " + printable(one.path) + " leads to " + printable(one.place) +
                    ", and an earlier command may have made the link; if it is right: --read " +
                    shell_word(printable(one.place)));
  }
  return lines;
}

}  // namespace

Result<CommandFiles> choose_files(const Options& options, const Launch& launch,
                                  const std::vector<std::string>& environment,
                                  const std::string& control, const Trust& trust) {
  std::error_code failed;
  const auto& identity = launch.identity;
  const auto& permissions = launch.permissions;
  confine::PlanRequest request;
  CommandFiles files;
  request.files = options.files == "host" ? confine::Files::host : confine::Files::view;
  request.directory = permissions.workspace;
  if (launch.has_own_workspace) request.directory_at = workspace_inside;
  request.workspace = workspace_of(permissions.workspace_access);
  const auto& home = launch.home;
  if (!home.empty()) {
    request.home = confine::follow(home, request);
    if (request.home.empty()) request.home = fs::path{home}.lexically_normal().string();
  }
  add_homes(environment, request);
  request.read = permissions.launch.read;
  request.write = permissions.launch.write;
  request.expose = launch.expose;
  confine::add_system(request);
  confine::add_programs(variable(environment, "PATH"), launch.command[0], request);
  files.notices = notices_of(request.left_out);
  if (auto done = confine::add_sockets(environment, request); !done) return done.error();
  if (options.connect) request.hidden.push_back(fs::weakly_canonical(*options.connect, failed));
  if (const auto runtime = variable(environment, "XDG_RUNTIME_DIR"); runtime.starts_with('/')) {
    request.hidden.push_back(fs::weakly_canonical(runtime, failed));
  }
  add_log(options, request, files.view);
  for (const auto& secret : launch.settings.secret) {
    if (!secret.file.empty()) request.private_files.push_back(secret.file);
  }
  if (!control.empty()) request.control = fs::canonical(control, failed).string();
  files.view.view = confine::plan_view(request);
  if (launch.has_own_workspace && files.view.view.directory != workspace_inside) {
    return Error{"workspace " + permissions.workspace +
                 " holds a home, or belongs to the system, and cannot be shown"};
  }
  files.view.owner = {identity.uid, identity.gid};
  files.view.own_bytes = permissions.launch.limits.disk_mb.value_or(0) << 20U;
  auto writable = request.write;
  writable.push_back(files.view.view.directory);
  std::vector<std::string> more{"STILE_RUN=1"};
  if (identity.is_changed) {
    more.push_back("USER=" + identity.name);
    more.push_back("LOGNAME=" + identity.name);
  }
  const bool has_home = identity.is_changed || home.empty() || home == "/";
  const auto given = given_variables(environment, permissions.launch.environment);
  auto trusted = confine::plan_trust(confine::read_trust(trust.ca, given), given, proxy_url);
  files.view.own_files = std::move(trusted.files);
  more.insert(more.end(), trusted.variables.begin(), trusted.variables.end());
  more.insert(more.end(), trust.variables.begin(), trust.variables.end());
  files.environment = confine::agent_environment(
      {given, proxy_url, has_home ? (home.size() > 1 ? home : "/tmp") : std::string{},
       request.expose, writable, more});
  return files;
}

std::string files_notice(const confine::View& view) {
  if (view.files == confine::Files::host) {
    return "--files host: the command can read and change every file that you can, keys and"
           " start-up files included; sockets that it could reach you by are hidden";
  }
  if (view.is_directory_empty) {
    return "the working directory holds your home, so that the command sees an empty one; start in"
           " a project's directory, or name what it needs by --read PATH and --write PATH";
  }
  return {};
}

}  // namespace stile::run
