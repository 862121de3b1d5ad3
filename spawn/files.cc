// files: looks at the files of a workspace from outside.
#include "spawn/files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/directory.h"
#include "base/quoted.h"
#include "base/system_error.h"
#include "base/utf8.h"
#include "spawn/workspace.h"

namespace stile::spawn {
namespace {

constexpr std::size_t most_entries = 1000;
constexpr std::size_t most_names = 20'000;  // that are looked at, while all other callers wait
constexpr std::size_t piece_bytes = 48U << 10U;

Error cannot(const std::string& path) {
  if (errno == ELOOP || errno == EXDEV) {
    return Error{in_quotes(path) + " is a link, or leads out of the workspace"};
  }
  return system_error(in_quotes(path));
}

// RESOLVE_NO_XDEV: a mount that the operator made there is not the worker's.
Result<UniqueFd> open_in(const std::string& workspace, std::string path, int flags,
                         std::uint32_t caller) {
  constexpr std::string_view inside = "/workspace";
  if (path.starts_with(inside) && (path.size() == inside.size() || path[inside.size()] == '/')) {
    path.erase(0, std::min(inside.size() + 1, path.size()));
  }
  if (path.empty()) path = ".";
  if (path.find('\0') != std::string::npos) return Error{"a path has no NUL"};
  const auto top = open_workspace(workspace);
  if (!top) return top.error();
  // Not blocking: it may be a FIFO. No controlling terminal: it may be one.
  UniqueFd fd = open_resolved(
      top->get(), path, flags | O_RDONLY | O_NONBLOCK | O_NOCTTY,
      RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV);
  if (!fd) return cannot(path);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return cannot(path);
  if (!is_shown_owner(status.st_uid, caller) && (status.st_mode & S_IROTH) == 0) {
    return Error{in_quotes(path) + " belongs to another user"};
  }
  return fd;
}

}  // namespace

Result<Listing> list_files(const std::string& workspace, const std::string& path,
                           std::uint32_t caller) {
  auto directory = open_in(workspace, path, O_DIRECTORY, caller);
  if (!directory) return directory.error();
  DirectoryStream entries{std::move(*directory)};
  if (!entries) return cannot(path);
  Listing listing;
  std::size_t seen = 0;
  while (const dirent* entry = entries.next()) {
    if (++seen > most_names) break;
    struct stat status {};
    if (::fstatat(entries.fd(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) continue;
    listing.files.push_back({entry->d_name, static_cast<std::uint64_t>(status.st_size),
                             status.st_mtim.tv_sec, S_ISDIR(status.st_mode)});
  }
  std::sort(listing.files.begin(), listing.files.end(),
            [](const FileEntry& a, const FileEntry& b) { return a.name < b.name; });
  listing.is_cut = listing.files.size() > most_entries || seen > most_names;
  if (listing.files.size() > most_entries) listing.files.resize(most_entries);
  return listing;
}

Result<FileContent> read_piece(const std::string& workspace, const std::string& path,
                               std::uint64_t offset, std::uint32_t caller) {
  const auto file = open_in(workspace, path, 0, caller);
  if (!file) return file.error();
  struct stat status {};
  if (::fstat(file->get(), &status) != 0) return cannot(path);
  if (!S_ISREG(status.st_mode)) return Error{in_quotes(path) + " is not a regular file"};
  FileContent content;
  content.size = static_cast<std::uint64_t>(status.st_size);
  content.offset = std::min(offset, content.size);
  content.bytes.resize(piece_bytes);
  const auto got =
      ::pread(file->get(), content.bytes.data(), piece_bytes, static_cast<off_t>(content.offset));
  if (got < 0) return cannot(path);
  content.bytes.resize(static_cast<std::size_t>(got));
  // A character that the end of the piece cuts belongs to the next one.
  if (content.bytes.size() == piece_bytes) content.bytes.resize(whole_utf8(content.bytes));
  content.is_text = valid_utf8(content.bytes) == content.bytes;
  content.next_offset = content.offset + content.bytes.size();
  return content;
}

}  // namespace stile::spawn
