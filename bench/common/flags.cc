#include "bench/common/flags.h"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "bench/common/socket.h"

namespace stile::bench {

Flags::Flags(int argc, char** argv, std::initializer_list<std::string_view> known) {
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto name = argument.substr(std::min<std::size_t>(2, argument.size()));
    if (!argument.starts_with("--") || std::find(known.begin(), known.end(), name) == known.end()) {
      errno = EINVAL;
      die(argument);
    }
    const bool has_value = i + 1 < argc && !std::string_view{argv[i + 1]}.starts_with("--");
    values_[std::string{name}] = has_value ? argv[++i] : "";
  }
}

std::string Flags::text(const std::string& name, const std::string& fallback) const {
  const auto found = values_.find(name);
  return found == values_.end() ? fallback : found->second;
}

std::uint64_t Flags::number(const std::string& name, std::uint64_t fallback) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return fallback;
  const std::string& text = found->second;
  std::uint64_t value{};
  const char* const end = text.data() + text.size();
  if (text.empty() || std::from_chars(text.data(), end, value).ptr != end) {
    errno = EINVAL;
    die("--" + name + " " + text);
  }
  return value;
}

}  // namespace stile::bench
