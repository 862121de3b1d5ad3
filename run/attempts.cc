// Attempts: counts the command's attempts to reach the network without the proxy.
#include "run/attempts.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <sstream>
#include <string>
#include <vector>

namespace stile::run {
namespace {

UniqueFd open_counters(pid_t process, const char* name) {
  const auto path = "/proc/" + std::to_string(process) + "/net/" + name;
  return UniqueFd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
}

std::string read_from_start(const UniqueFd& file) {
  std::string text;
  if (!file || ::lseek(file.get(), 0, SEEK_SET) != 0) return text;
  std::array<char, 4096> part{};
  for (ssize_t size = 0; (size = ::read(file.get(), part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(size));
  }
  return text;
}

std::vector<std::string> words_of_line(const std::string& line) {
  std::istringstream words{line};
  std::vector<std::string> list;
  for (std::string word; words >> word;) list.push_back(word);
  return list;
}

std::uint64_t number(const std::string& word) { return std::strtoull(word.c_str(), nullptr, 10); }

// snmp: for each protocol, a line of names, then a line of numbers.
std::uint64_t in_pairs(const std::string& text, const std::string& protocol, const char* name) {
  std::istringstream lines{text};
  for (std::string names, numbers; std::getline(lines, names) && std::getline(lines, numbers);) {
    const auto keys = words_of_line(names);
    const auto values = words_of_line(numbers);
    if (keys.empty() || keys[0] != protocol + ':') continue;
    for (std::size_t i = 1; i < keys.size() && i < values.size(); ++i) {
      if (keys[i] == name) return number(values[i]);
    }
  }
  return 0;
}

// snmp6: one name and one number per line.
std::uint64_t in_lines(const std::string& text, const char* name) {
  std::istringstream lines{text};
  for (std::string key, value; lines >> key >> value;) {
    if (key == name) return number(value);
  }
  return 0;
}

}  // namespace

Attempts::Attempts(pid_t process)
    : v4_{open_counters(process, "snmp")}, v6_{open_counters(process, "snmp6")} {}

std::uint64_t Attempts::count() const {
  const auto v4 = read_from_start(v4_);
  const auto v6 = read_from_start(v6_);
  // NoPorts: the command asked a resolver on the loopback, where none listens.
  return in_pairs(v4, "Ip", "OutNoRoutes") + in_pairs(v4, "Udp", "NoPorts") +
         in_lines(v6, "Ip6OutNoRoutes") + in_lines(v6, "Udp6NoPorts");
}

}  // namespace stile::run
