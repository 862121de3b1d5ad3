// plan: decides what a command sees of the host's files, from values alone. Pure.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stile::confine {

// view: built from an empty root. host: the host's files, with sockets and shared directories
// hidden.
enum class Files : std::uint8_t { view, host };

// How the working directory is shown. none: empty, except for what is named in it.
enum class Workspace : std::uint8_t { writable, read_only, none };

struct Symlink {
  std::string path, text;
  friend bool operator==(const Symlink&, const Symlink&) = default;
};

// A path that a command can write to leads to a place that the command would not see otherwise.
struct LeftOut {
  std::string path, place;
  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

// The request, and what this host has. Paths are absolute and contain no links.
struct PlanRequest {
  Files files = Files::view;
  std::string directory;     // where the command should start
  std::string directory_at;  // it is shown there; "": at its own path
  Workspace workspace = Workspace::writable;
  std::string home;                        // becomes an empty directory; "": none
  std::vector<std::string> homes;          // real homes: shown only if they are named
  std::vector<std::string> system;         // directories of the system, read-only
  std::vector<Symlink> links;              // on the way to the system and to programs
  std::vector<std::string> programs;       // of PATH and of the command, read-only
  std::vector<LeftOut> left_out;           // of the same, not shown
  std::vector<std::string> read, write;    // named; sockets and secrets in them are covered
  std::vector<std::string> expose;         // named; shown as they are
  std::vector<std::string> hidden;         // neither shown nor used as a working directory
  std::vector<std::string> sockets;        // of this host, as far as known
  std::string log;                         // our own log; "": none
  std::string control;                     // directory of our control socket; "": none
  std::vector<std::string> private_files;  // hidden even if they are named: the values of secrets
};

// How a path of the view is filled.
enum class MountContent : std::uint8_t { bind, empty, proc, sys, devices, text };

// What is searched for below a bind, and covered.
enum class Search : std::uint8_t { none, sockets, top, all };

struct Mount {
  std::string target;
  MountContent content = MountContent::bind;
  bool is_writable = false;
  bool is_named = false;  // by the caller: an error if it does not exist
  Search search = Search::none;
  mode_t mode = 0755;       // of an empty directory
  std::string source = {};  // of a bind: the host's path; "": the target
  std::string text = {};    // of a file that is made for the command, read-only
  [[nodiscard]] const std::string& host_path() const { return source.empty() ? target : source; }
  friend bool operator==(const Mount&, const Mount&) = default;
};

struct View {
  Files files = Files::view;
  std::vector<Mount> mounts;        // parents before children; each target once
  std::vector<Symlink> links;       // created where nothing is mounted
  std::vector<std::string> covers;  // files and directories to cover with empty ones
  std::vector<std::string> pins;    // directories that the command must not rename
  std::string directory;            // where the command starts; "": not visible to it
  bool is_directory_empty = false;  // it is or contains a home, and is not shown

  // The innermost mount that has the path; null: none has it.
  [[nodiscard]] const Mount* mount_of(std::string_view path) const;
};

[[nodiscard]] View plan_view(const PlanRequest& request);

// Files and directories that usually hold secrets, by their name and their directory's name.
[[nodiscard]] bool is_secret(std::string_view directory, std::string_view name,
                             bool is_directory) noexcept;

// Whether a path is such a secret, or lies in one, below the places that are shown. There it is
// covered as long as nobody names it.
[[nodiscard]] bool is_in_secret(const std::string& path, const std::vector<std::string>& shown);

}  // namespace stile::confine
