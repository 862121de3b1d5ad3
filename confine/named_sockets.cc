// named_sockets: finds the paths of the host's unix sockets, as far as they are visible.
#include "confine/named_sockets.h"

#include <algorithm>

namespace stile::confine {
namespace {

template <class Take>
void each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// The text after the first `count` fields and the blank that follows; it may contain blanks.
std::string_view after_fields(std::string_view line, int count) {
  for (; count > 0; --count) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    line.remove_prefix(std::min(line.find(' '), line.size()));
  }
  if (!line.empty()) line.remove_prefix(1);
  return line;
}

// mountinfo writes blanks, tabs, newlines and backslashes as \ooo.
std::string unescaped(std::string_view text) {
  std::string result;
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      result += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                  (text[i + 3] - '0'));
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace

std::vector<std::string> bound_paths(std::string_view proc_net_unix) {
  std::vector<std::string> paths;
  each_line(proc_net_unix, [&](std::string_view line) {
    // Seven columns without a slash come before the path, which may contain blanks.
    const auto at = line.find(" /");
    if (at != std::string_view::npos) paths.emplace_back(line.substr(at + 1));
  });
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

bool is_socket_table(std::string_view proc_net_unix) noexcept {
  return proc_net_unix.starts_with("Num ");
}

std::vector<std::string> mount_points(std::string_view mountinfo) {
  constexpr int fields_before_point = 4;
  std::vector<std::string> points;
  each_line(mountinfo, [&](std::string_view line) {
    const auto rest = after_fields(line, fields_before_point);
    if (rest.starts_with('/')) points.push_back(unescaped(rest.substr(0, rest.find(' '))));
  });
  return points;
}

}  // namespace stile::confine
