// stile workers: all workers of stile-spawner, or one of them with its tasks.
#include <ctime>
#include <iostream>
#include <memory>

#include "base/table.h"
#include "base/units.h"
#include "cli/command_list.h"
#include "cli/spawner_client.h"

namespace stile::cli {
namespace {

struct WorkersOptions {
  SpawnerOptions spawner;
  std::string id, tag;
};

std::uint64_t now_seconds() { return static_cast<std::uint64_t>(std::time(nullptr)); }

std::string age_of(const Json& object, const char* since) {
  const auto then = number_of(object, since);
  const auto now = now_seconds();
  return seconds_text(now > then ? now - then : 0);
}

std::string time_left(const Json& worker) {
  if (!has(worker, "expires_at")) return "-";
  const auto end = number_of(worker, "expires_at");
  const auto now = now_seconds();
  return seconds_text(end > now ? end - now : 0);
}

int print_workers(const Json& workers) {
  Table table{{{"WORKER", Fit::cut_end},
               {"STATUS"},
               {"TEMPLATE", Fit::cut_end, 1},
               {"TAGS", Fit::cut_end, 2},
               {"AGE", Fit::number, 1},
               {"LEFT", Fit::number, 1},
               {"WORKSPACE", Fit::cut_start, 3}}};
  for (const Json& worker : workers) {
    table.add({text_of(worker, "task_id"), text_of(worker, "status"), text_of(worker, "template"),
               joined(list_of(worker, "tags")), age_of(worker, "started_at"), time_left(worker),
               text_of(worker, "workspace")});
  }
  table.print_or(std::cout, Terminal::of_output(),
                 "there is no worker\n  next: stile spawn default");
  return fine;
}

int print_worker(const Json& worker) {
  std::cout << Cell{text_of(worker, "task_id")}.text << ": " << text_of(worker, "status")
            << "\n  template   " << text_of(worker, "template") << "\n  workspace  "
            << Cell{text_of(worker, "workspace")}.text << "\n  memory     "
            << bytes_text(number_of(worker, "memory_bytes")) << "\n  processes  "
            << number_of(worker, "processes") << "\n  age        " << age_of(worker, "started_at")
            << "\n  left       " << time_left(worker) << '\n';
  Table table{
      {{"TASK", Fit::number}, {"STATUS"}, {"EXIT", Fit::number, 1}, {"STARTED", Fit::number, 1}}};
  for (const Json& run : list_of(worker, "runs")) {
    table.add({text_of(run, "run"), text_of(run, "status"), text_of(run, "exit_status"),
               age_of(run, "started_at") + " ago"});
  }
  if (!table.is_empty()) table.print(std::cout, Terminal::of_output());
  return fine;
}

int run_workers(const WorkersOptions& options) {
  const bool is_one = !options.id.empty();
  const auto answer =
      is_one ? ask_spawner(options.spawner, {{"action", "status"}, {"task_id", options.id}})
             : ask_spawner(options.spawner, {{"action", "list"}});
  if (!answer) return print_failure(answer.error(), options.spawner.json);
  if (is_one) {
    if (!options.spawner.json) return print_worker(answer->json);
    return print_json(answer->json);
  }
  Json workers = Json::list();
  for (const Json& worker : list_of(answer->json, "workers")) {
    if (options.tag.empty() || is_tagged(worker, options.tag)) workers.add(worker);
  }
  if (!options.spawner.json) return print_workers(workers);
  return print_json({{"workers", workers}});
}

}  // namespace

void add_workers(Command& stile) {
  auto options = std::make_shared<WorkersOptions>();
  auto command =
      stile.add("workers", "list the workers of stile-spawner, or show one with its tasks");
  command.word("WORKER", options->id, "show this one (default: list all)");
  command.option("--tag", options->tag, "only those with this tag");
  add_spawner_options(command, options->spawner);
  command.examples(
      "Examples:\n  stile workers\n  stile workers alpha\n  stile workers --tag nightly --json");
  command.does([options] { return run_workers(*options); });
}

}  // namespace stile::cli
