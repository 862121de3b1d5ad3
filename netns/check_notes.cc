// check_notes: the first thing that is wrong, for each agent.
#include "netns/check_notes.h"

#include <map>

#include "base/json.h"
#include "base/quoted.h"

namespace stile::netns {
namespace {

constexpr std::size_t max_problem_bytes = 200;  // the daemon takes 256

std::string problem_of(const CheckRow& row) {
  return printable(row.probe + ": expected " + row.expected + ", got " + row.got)
      .substr(0, max_problem_bytes);
}

}  // namespace

std::vector<std::string> check_notes(const CheckReport& report) {
  std::string shared;
  std::map<std::string, std::string> problems;
  for (const auto& row : report.rows) {
    const bool is_wrong = row.is_of_fence && !row.is_good;
    auto& problem = row.agent == "-" ? shared : problems[row.agent];
    if (is_wrong && problem.empty()) problem = problem_of(row);
  }
  std::vector<std::string> notes;
  for (const auto& [agent, own] : problems) {
    const auto& problem = own.empty() ? shared : own;
    JsonObject object{notes.emplace_back()};
    object.add("action", "note-check").add("agent", agent).add("holds", problem.empty());
    if (!problem.empty()) object.add("reason", problem);
  }
  return notes;
}

}  // namespace stile::netns
