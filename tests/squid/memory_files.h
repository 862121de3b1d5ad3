// Files that are only in memory, and a squid.conf read from them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "squid/compile.h"
#include "squid/conf.h"

namespace stile::squid::test {

using Content = std::map<std::string, std::string>;

inline Files memory_files(const Content& content) {
  Files files;
  files.read = [&content](const std::string& path) -> Result<std::string> {
    const auto found = content.find(path);
    if (found == content.end()) return Error{path + ": there is no such file"};
    return text_result(found->second);
  };
  // "conf.d/*" stands for all below it; without a star, for itself.
  files.glob = [&content](const std::string& pattern) {
    std::vector<std::string> names;
    const std::size_t star = pattern.find('*');
    for (const auto& [name, text] : content) {
      if (star == pattern.npos ? name == pattern : name.starts_with(pattern.substr(0, star))) {
        names.push_back(name);
      }
    }
    return names;
  };
  return files;
}

// What every squid.conf here needs and no test is about.
inline config::Checked<Conf> read(std::string text, Content others = {}) {
  others["squid.conf"] = text + "\nhttp_port 3128\n";
  return parse("squid.conf", memory_files(others));
}

inline std::string problems(const std::string& text, const Content& others = {}) {
  const auto conf = read(text, others);
  return conf ? std::string{} : conf.error().text();
}

}  // namespace stile::squid::test
