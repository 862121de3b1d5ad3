// Files of this host, opened with the same checks as those of stile.toml.
#include "squid/files.h"

#include <glob.h>

#include <optional>

#include "base/files.h"
#include "config/list_file.h"
#include "config/trust.h"

namespace stile::squid {
namespace {

Result<std::string> read_file(const std::string& path, config::Digest& digest) {
  const auto opened = config::open_trusted(path, std::nullopt);
  if (!opened) return opened.error();
  auto text = read_all(opened->file.get(), config::max_list_bytes);
  if (text) digest.add(path, *text);
  return text;
}

std::vector<std::string> find_files(const std::string& pattern) {
  ::glob_t found{};
  std::vector<std::string> names;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread reads the config; ~ is not asked for
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    names.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  return names;
}

}  // namespace

Files disk_files(config::Digest& digest) {
  return {[&digest](const std::string& path) { return read_file(path, digest); }, find_files};
}

}  // namespace stile::squid
