// files: looks at the files of a workspace from outside. The worker may have put anything there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace stile::spawn {

// A path here is relative to the workspace, or begins with /workspace. It is opened beneath the
// workspace, without following links. Files that belong neither to the caller of the worker nor to
// an agent are shown only if everybody may read them.
struct FileEntry {
  std::string name;
  std::uint64_t size = 0;
  std::int64_t modified_at = 0;
  bool is_directory = false;
};

struct Listing {
  std::vector<FileEntry> files;  // sorted by name; links and special files are left out
  bool is_cut = false;           // there are more
};
[[nodiscard]] Result<Listing> list_files(const std::string& workspace, const std::string& path,
                                         std::uint32_t caller);

struct FileContent {
  std::string bytes;
  std::uint64_t offset = 0, next_offset = 0, size = 0;
  bool is_text = false;  // valid UTF-8
};
// A piece of a regular file.
[[nodiscard]] Result<FileContent> read_piece(const std::string& workspace, const std::string& path,
                                             std::uint64_t offset, std::uint32_t caller);

}  // namespace stile::spawn
