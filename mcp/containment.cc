// containment: what cannot be seen counts as a hole.
#include "mcp/containment.h"

namespace stile::mcp {
namespace {

// Why a worker may not be confined; empty: it is.
std::string hole_of(const std::string& daemon_problem, const WorkerAtDaemon& worker,
                    const std::string& daemon_mode) {
  if (!daemon_problem.empty()) return "unknown: " + daemon_problem;
  if (!worker.problem.empty()) return "unknown: " + worker.problem;
  const bool observes = text_of(worker.agent, "mode") == "observe" || daemon_mode == "observe";
  return observes ? "observe mode: requests are logged, and not refused" : "";
}

}  // namespace

Json containment(const Json& daemon, const std::string& problem,
                 const std::vector<WorkerAtDaemon>& workers) {
  bool are_all = true;
  Json list = Json::list();
  for (const auto& worker : workers) {
    const auto hole = hole_of(problem, worker, text_of(daemon, "mode"));
    const bool is_contained = hole.empty();
    Json problems = Json::list();
    if (!is_contained) problems.add(hole);
    if (is_contained && worker.agent.is_null()) {
      problems.add("the daemon does not know this worker, and refuses all its requests");
    }
    are_all = are_all && is_contained;
    Json one{{"worker", worker.id}, {"contained", is_contained}};
    one.set("problems", std::move(problems));
    if (!worker.agent.is_null()) {
      const Json& counters = object_of(worker.agent, "counters");
      one.set("mode", text_of(worker.agent, "mode"));
      one.set("connections", number_of(worker.agent, "connections"));
      one.set("grants", list_of(worker.agent, "grants").size());
      one.set("requests_allowed", number_of(counters, "requests_allowed"));
      one.set("requests_denied", number_of(counters, "requests_denied"));
    }
    list.add(std::move(one));
  }
  Json result{{"contained", are_all}};
  if (!daemon.is_null()) {
    result.set("daemon", Json{{"version", text_of(daemon, "version")},
                              {"mode", text_of(daemon, "mode")},
                              {"draining", flag_of(daemon, "draining")}});
  }
  result.set("workers", std::move(list));
  return result;
}

}  // namespace stile::mcp
