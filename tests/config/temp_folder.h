// TempFolder: a folder of its own for a test, gone at its end.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace stile::config {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stile-config-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  [[nodiscard]] std::string path(std::string_view name = "") const {
    return name.empty() ? path_ : path_ + '/' + std::string{name};
  }
  // Writes a file that only its owner can write, whatever the umask.
  std::string write(std::string_view name, std::string_view content, mode_t mode = 0644) const {
    std::filesystem::create_directories(std::filesystem::path{path(name)}.parent_path());
    std::ofstream{path(name), std::ios::binary} << content;
    ::chmod(path(name).c_str(), mode);
    return path(name);
  }

 private:
  std::string path_;
};

// Messages with the folder's random name taken out.
inline std::string without(std::string text, const std::string& part) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
  return text;
}

}  // namespace stile::config
