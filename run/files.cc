// files: what the command sees of the host's files, and its environment variables.
#include "run/files.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string_view>

#include "confine/environment.h"
#include "confine/survey.h"
#include "run/loopback.h"

namespace stile::run {
namespace {

namespace fs = std::filesystem;

std::string variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const auto& one : environment) {
    if (one.starts_with(name) && one.size() > name.size() && one[name.size()] == '=') {
      return one.substr(name.size() + 1);
    }
  }
  return {};
}

// The command's HOME. A user other than the caller has its own.
std::string home_of(const Identity& identity, const std::vector<std::string>& environment) {
  if (identity.is_changed) return identity.home.empty() ? "/tmp" : identity.home;
  auto home = variable(environment, "HOME");
  return home.starts_with('/') ? home : std::string{};
}

// Homes that must not become a workspace as a whole: the caller's under both names, and root's.
void add_homes(const std::vector<std::string>& environment, confine::Request& request) {
  std::vector<std::string> homes{variable(environment, "HOME"), "/root"};
  // NOLINTNEXTLINE(concurrency-mt-unsafe): before the first thread
  if (const passwd* entry = ::getpwuid(::geteuid())) homes.emplace_back(entry->pw_dir);
  for (const auto& home : homes) {
    std::error_code failed;
    const auto real = fs::canonical(home, failed).string();
    if (!failed && real.size() > 1) request.homes.push_back(real);
  }
}

Result<void> add_named(const std::vector<std::string>& paths, const char* flag,
                       std::vector<std::string>& to) {
  for (const auto& path : paths) {
    auto place = confine::named_place(path, flag);
    if (!place) return place.error();
    to.push_back(std::move(*place));
  }
  return {};
}

void add_log(const Options& options, confine::Request& request, confine::ViewRequest& view) {
  struct stat status {};
  if (!options.audit || ::stat(options.audit->c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return;
  }
  std::error_code failed;
  request.log = fs::canonical(*options.audit, failed).string();
  view.log.emplace(status.st_dev, status.st_ino);
}

}  // namespace

Result<CommandFiles> choose_files(const Options& options, const Identity& identity,
                                  const std::vector<std::string>& environment,
                                  const std::string& control) {
  std::error_code failed;
  confine::Request request;
  CommandFiles files;
  request.files = options.files == "host" ? confine::Files::host : confine::Files::view;
  request.directory = fs::current_path(failed).string();
  if (failed) return Error{"the working directory cannot be told: " + failed.message()};
  const auto home = home_of(identity, environment);
  if (!home.empty()) {
    request.home = confine::follow(home, request);
    if (request.home.empty()) request.home = fs::path{home}.lexically_normal().string();
  }
  add_homes(environment, request);
  if (auto done = add_named(options.read, "--read", request.read); !done) return done.error();
  if (auto done = add_named(options.write, "--write", request.write); !done) return done.error();
  if (auto done = add_named(options.expose, "--expose", request.expose); !done) return done.error();
  confine::add_system(request);
  confine::add_programs(variable(environment, "PATH"), options.command[0], request);
  if (auto done = confine::add_sockets(environment, request); !done) return done.error();
  if (options.connect) request.hidden.push_back(fs::weakly_canonical(*options.connect, failed));
  if (const auto runtime = variable(environment, "XDG_RUNTIME_DIR"); runtime.starts_with('/')) {
    request.hidden.push_back(fs::weakly_canonical(runtime, failed));
  }
  add_log(options, request, files.view);
  if (!control.empty()) request.control = fs::canonical(control, failed).string();
  files.view.view = confine::plan_view(request);
  files.view.owner = {identity.uid, identity.gid};
  auto writable = request.write;
  writable.push_back(request.directory);
  std::vector<std::string> more{"STILE_RUN=1"};
  if (identity.is_changed) {
    more.push_back("USER=" + identity.name);
    more.push_back("LOGNAME=" + identity.name);
  }
  const bool has_home = identity.is_changed || home.empty() || home == "/";
  files.environment = confine::agent_environment(
      {environment, proxy_url, has_home ? (home.size() > 1 ? home : "/tmp") : std::string{},
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
