// doctor_checks: config, daemon, log, disk, clock, permissions and the fence.
#include "cli/doctor_checks.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "audit/line.h"
#include "audit/text.h"
#include "base/quoted.h"
#include "base/system_error.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "base/unix_time.h"
#include "cli/advice.h"

extern char** environ;

namespace stile::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t least_free_bytes = 100U << 20U;
constexpr std::uint64_t least_free_part = 100;  // one of so many
constexpr std::int64_t most_ahead_micros = 5'000'000;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string octal(mode_t mode) {
  constexpr std::string_view digits = "01234567";
  std::string text = "0";
  for (const unsigned shift : {6U, 3U, 0U}) text += digits[(mode >> shift) & 7U];
  return text;
}

std::string owner_text(const struct stat& status) {
  std::array<char, 16384> buffer{};
  struct passwd user {};
  struct passwd* found_user = nullptr;
  ::getpwuid_r(status.st_uid, &user, buffer.data(), buffer.size(), &found_user);
  std::string text = found_user != nullptr ? found_user->pw_name : std::to_string(status.st_uid);
  struct group group {};
  struct group* found_group = nullptr;
  ::getgrgid_r(status.st_gid, &group, buffer.data(), buffer.size(), &found_group);
  text += ':';
  text += found_group != nullptr ? found_group->gr_name : std::to_string(status.st_gid);
  return text + ' ' + octal(status.st_mode);
}

std::string folder_of(const std::string& path) {
  const auto folder = fs::path{path}.parent_path().string();
  return folder.empty() ? "." : folder;
}

void check_socket(const std::string& path, Findings& findings) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;
  const bool is_open_to_all = (status.st_mode & 0002U) != 0;
  findings.push_back({"socket", is_open_to_all ? FindingState::wrong : FindingState::good,
                      path + ", " + owner_text(status) +
                          (is_open_to_all ? ": every user of this host may change the policy" : ""),
                      is_open_to_all ? "chmod 0660 " + shell_word(path) : ""});
}

// The end of a file. The daemon could put a link, a FIFO or a device there, and root opens it.
std::string end_of(const std::string& path) {
  constexpr off_t most = 64 << 10;
  struct stat status {};
  const UniqueFd place{::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
  if (!place || ::fstat(place.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const UniqueFd file{
      ::open(("/proc/self/fd/" + std::to_string(place.get())).c_str(), O_RDONLY | O_CLOEXEC)};
  std::string text(most, '\0');
  const auto got = file ? ::pread(file.get(), text.data(), text.size(),
                                  std::max<off_t>(0, status.st_size - most))
                        : 0;
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

// The time stamp of the last complete line of the log, if there is one.
std::optional<UnixMicros> last_time(const std::string& path) {
  std::istringstream file{end_of(path)};
  std::optional<UnixMicros> last;
  for (std::string line; std::getline(file, line);) {
    audit::Line read;
    if (audit::read_line(line, read) != audit::LineKind::whole) continue;
    if (const auto time = parse_time(read.raw(audit::Key::ts))) last = time;
  }
  return last;
}

// The nearest directory that exists: stiled makes the missing ones at its first start.
std::string existing_part(const std::string& folder) {
  fs::path path{folder};
  std::error_code ignored;
  while (path.has_relative_path() && fs::status(path, ignored).type() == fs::file_type::not_found) {
    path = path.parent_path();
  }
  return path.string();
}

void check_space(const std::string& subject, const std::string& wanted, Findings& findings) {
  const auto folder = existing_part(wanted);
  struct statvfs space {};
  if (::statvfs(folder.c_str(), &space) != 0) {
    findings.push_back({subject, FindingState::wrong, folder + ": " + error_text(errno),
                        "ls -ld " + shell_word(folder)});
    return;
  }
  const std::uint64_t left = std::uint64_t{space.f_bavail} * space.f_frsize;
  const std::uint64_t total = std::uint64_t{space.f_blocks} * space.f_frsize;
  const bool has_no_files = space.f_files > 0 && space.f_favail * least_free_part < space.f_files;
  const bool is_full = left < least_free_bytes || left < total / least_free_part || has_no_files;
  findings.push_back({subject, is_full ? FindingState::wrong : FindingState::good,
                      folder + ": " + bytes_text(left) + " free" +
                          (has_no_files ? ", but almost no inodes for new files" : ""),
                      is_full ? "df -h " + shell_word(folder) : ""});
}

void check_mode(const std::string& path, Findings& findings) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) {
      findings.push_back({"permissions",
                          FindingState::unsure,
                          path + " does not exist yet; stiled makes it when it starts",
                          {}});
      return;
    }
    const bool is_hidden = errno == EACCES;
    findings.push_back({"permissions", is_hidden ? FindingState::unsure : FindingState::wrong,
                        path + ": " + error_text(errno),
                        is_hidden ? "sudo stile doctor" : "ls -ld " + shell_word(folder_of(path))});
    return;
  }
  const bool is_open = (status.st_mode & 0002U) != 0;
  findings.push_back(
      {"permissions", is_open ? FindingState::wrong : FindingState::good,
       path + ", " + owner_text(status) + (is_open ? ": every user may write it" : ""),
       is_open ? "chmod o-w " + shell_word(path) : ""});
}

std::size_t count_namespaces() {
  std::error_code problem;
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator{"/run/netns", problem}) {
    if (entry.path().filename().string().starts_with("agent-")) ++count;
  }
  return count;
}

// The exit status of `stile-netns check`; nullopt: it could not be run.
std::optional<int> run_netns_check() {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::array<char, 12> program{"stile-netns"};
  std::array<char, 6> word{"check"};
  std::array<char*, 3> words{program.data(), word.data(), nullptr};
  pid_t child = -1;
  const int problem =
      ::posix_spawnp(&child, program.data(), &files, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  int status = 0;
  if (problem != 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return {};
  if (WEXITSTATUS(status) == 127) return {};
  return WEXITSTATUS(status);
}

}  // namespace

void check_config(const std::optional<std::string>& file, Findings& findings,
                  std::optional<UsedConfig>& config) {
  const auto command = "stile check" + (file ? ' ' + shell_word(*file) : std::string{});
  auto read = read_config(file);
  if (!read) {
    const auto& advice = read.error().advice;
    findings.push_back({"config", advice.empty() ? FindingState::wrong : FindingState::unsure,
                        first_line(read.error().message), advice.empty() ? command : advice});
    return;
  }
  const auto refused = read->loaded.cards.rejected.size();
  const auto agents = read->policies->agents().size();
  auto detail = read->name + ", " + audit::counted(agents, "agent");
  if (refused > 0) detail += ", " + audit::counted(refused, "card") + " refused";
  findings.push_back({"config", refused > 0 ? FindingState::wrong : FindingState::good, detail,
                      refused > 0 ? command : ""});
  config = std::move(*read);
}

namespace {

Finding daemon_finding(const std::string& path, const Json& status, const ControlOptions& options) {
  const auto mode = text_of(status, "mode");
  Finding finding{"daemon",
                  FindingState::good,
                  "answers at " + path + ", up " +
                      seconds_text(number_of(status, "uptime_seconds")) + ", mode " + mode,
                  {}};
  if (flag_of(status, "draining")) {
    finding.state = FindingState::wrong;
    finding.detail += "; it is draining: it refuses new requests, and ends";
    finding.next = "systemctl start stiled   # after it has ended";
  } else if (mode == "offline") {
    finding.state = FindingState::wrong;
    finding.detail += ": all requests of all agents are refused";
    if (flag_of(object_of(status, "fleet"), "offline")) {
      finding.detail.append("; ").append(fleet_offline_note);
    } else {
      finding.next = addressed("stile mode enforce", options);
    }
  }
  return finding;
}

}  // namespace

Json check_daemon(const ControlOptions& options, Findings& findings) {
  auto client = connect(options, Access::look, Peers::daemon);
  if (!client) {
    const auto& problem = client.error();
    findings.push_back({"daemon", FindingState::wrong, problem.message, problem.advice});
    return {};
  }
  const auto status = send_request(*client, {{"action", "status"}});
  if (!status) {
    findings.push_back(
        {"daemon", FindingState::wrong, status.error().message, status.error().advice});
    return {};
  }
  const auto version = text_of(status->json, "version");
  const bool is_same = version == STILE_VERSION;
  findings.push_back(daemon_finding(client->path(), status->json, options));
  findings.push_back(
      {"version", is_same ? FindingState::good : FindingState::wrong,
       is_same ? "stile and stiled " + version : "stile is " STILE_VERSION ", stiled is " + version,
       is_same ? "" : "systemctl reload stiled"});
  check_socket(client->path(), findings);
  if (const auto asks = number_of(status->json, "asks"); asks > 0) {
    findings.push_back({"asks", FindingState::good,
                        audit::counted(asks, "question") + " of agents for you", "stile asks"});
  }
  return status->json;
}

void check_audit(const config::Settings& settings, const Json& status, Findings& findings) {
  const auto& path = settings.audit.path;
  if (has(status, "audit_problem")) {
    findings.push_back(
        {"audit log", FindingState::wrong, "cannot be written: " + text_of(status, "audit_problem"),
         path == "-" ? "journalctl -u stiled -n 50"
                     : "df -h " + shell_word(folder_of(path)) + "; ls -l " + shell_word(path)});
    return;
  }
  const auto gaps = number_of(status, "audit_gaps");
  if (gaps > 0) {
    findings.push_back({"audit log", FindingState::wrong,
                        audit::counted(gaps, "gap") + " since the start",
                        path == "-" ? "" : "stile audit verify " + shell_word(path)});
    return;
  }
  if (!status.is_null()) {
    const auto where = path == "-" ? "to standard output" : path;
    findings.push_back({"audit log", FindingState::good, where + ", no gaps", {}});
  }
}

void check_fleet(const Json& status, Findings& findings) {
  if (!has(status, "fleet")) return;
  const Json& fleet = object_of(status, "fleet");
  if (!flag_of(fleet, "connected")) {
    findings.push_back({"fleet", FindingState::wrong,
                        "no store was reached for " +
                            seconds_text(number_of(fleet, "age_seconds")) +
                            "; the policy that was accepted last stays in force",
                        "journalctl -u stile-fleet -n 20"});
  } else {
    findings.push_back({"fleet", FindingState::good, "connected", {}});
  }
  for (const Json& one : list_of(fleet, "refused")) {
    findings.push_back({"fleet", FindingState::unsure,
                        text_of(one, "name") + " is refused: " + text_of(one, "reason"),
                        "stile fleet status"});
  }
}

void check_disk(const config::Settings& settings, Findings& findings) {
  if (settings.audit.path != "-") check_space("disk", folder_of(settings.audit.path), findings);
  check_space("disk", settings.server.state_dir, findings);
}

void check_clock(const config::Settings& settings, Findings& findings) {
  using namespace std::chrono;
  const auto now = unix_micros();
  const auto last = settings.audit.path == "-" ? std::nullopt : last_time(settings.audit.path);
  if (last && *last > now + most_ahead_micros) {
    findings.push_back({"clock", FindingState::wrong,
                        "it is " + time_text(now - now % 1'000'000) +
                            ", but the log has a line of " + time_text(*last),
                        "timedatectl"});
    return;
  }
  struct timex clock {};
  const bool is_set = ::adjtimex(&clock) != TIME_ERROR && (clock.status & STA_UNSYNC) == 0;
  findings.push_back(
      {"clock", is_set ? FindingState::good : FindingState::unsure,
       is_set ? "synchronised"
              : "not known to be synchronised; `expires` and the times in the log depend on it",
       is_set ? "" : "timedatectl"});
}

void check_permissions(const config::Settings& settings, Findings& findings) {
  if (settings.audit.path != "-") check_mode(settings.audit.path, findings);
  check_mode(settings.server.state_dir, findings);
}

void check_fence(Findings& findings) {
  const auto count = count_namespaces();
  if (count == 0) {
    findings.push_back({"fence", FindingState::good, "no agent has a namespace on this host", {}});
    return;
  }
  const auto agents = audit::counted(count, "agent") + " in namespaces";
  if (::geteuid() != 0) {
    findings.push_back({"fence", FindingState::unsure, agents + "; only root can check them",
                        "sudo stile-netns check"});
    return;
  }
  const auto status = run_netns_check();
  const auto state = !status        ? FindingState::unsure
                     : *status == 0 ? FindingState::good
                                    : FindingState::wrong;
  findings.push_back({"fence", state,
                      agents + (!status        ? "; stile-netns cannot be run"
                                : *status == 0 ? ", all as they should be"
                                               : "; something is missing or open"),
                      state == FindingState::wrong ? "stile-netns check; stile-netns repair" : ""});
}

}  // namespace stile::cli
