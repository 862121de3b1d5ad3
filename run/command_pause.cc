// CommandPause: stops everything that runs inside while a person reads a question.
#include "run/command_pause.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "confine/supervise.h"

namespace stile::run {
namespace {

namespace fs = std::filesystem;

// A process that reads from a slow disk stops only afterwards.
constexpr std::chrono::milliseconds patience{500};

// Stopped, by a tracer too, or ended.
bool is_stopped(const std::string& stat) {
  const auto name_end = stat.rfind(')');  // the name of a program may contain anything
  if (name_end == std::string::npos || name_end + 2 >= stat.size()) return false;
  return std::string_view{"TtZX"}.find(stat[name_end + 2]) != std::string_view::npos;
}

// A process that disappears during the look has children somewhere else now: look again.
bool all_stopped_below(pid_t first) {
  std::vector<std::string> rest{std::to_string(first)};
  for (bool is_first = true; !rest.empty(); is_first = false) {
    const auto process = std::move(rest.back());
    rest.pop_back();
    std::error_code failed;
    std::size_t threads = 0;
    for (fs::directory_iterator one{"/proc/" + process + "/task", failed}, end;
         !failed && one != end; one.increment(failed), ++threads) {
      const auto path = one->path().string();
      if (!is_first && !is_stopped(read_or_empty(path + "/stat"))) return false;
      if (!fs::exists(path + "/children", failed)) return false;
      std::istringstream children{read_or_empty(path + "/children")};
      for (std::string child; children >> child;) rest.push_back(child);
    }
    if (failed || threads == 0) return false;
  }
  return true;
}

}  // namespace

bool CommandPause::stop() const {
  const auto give_up_at = std::chrono::steady_clock::now() + patience;
  if (::kill(first_, confine::pause_signal()) != 0) return false;
  while (!all_stopped_below(first_)) {
    if (std::chrono::steady_clock::now() >= give_up_at) {
      resume();
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return true;
}

bool CommandPause::holds() const { return all_stopped_below(first_); }

void CommandPause::resume() const { ::kill(first_, confine::resume_signal()); }

}  // namespace stile::run
