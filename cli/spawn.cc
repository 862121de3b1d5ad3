// stile spawn, stile stop: start and end workers of stile-spawner.
#include <filesystem>
#include <iostream>
#include <memory>

#include "base/random.h"
#include "base/units.h"
#include "cli/argument_checks.h"
#include "cli/card_file.h"
#include "cli/command_list.h"
#include "cli/spawner_client.h"

namespace stile::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* default_workspace = "/mnt/agents";

struct SpawnOptions {
  SpawnerOptions spawner;
  std::string what, id, workspace, life;
  std::vector<std::string> tags;
};

struct StopOptions {
  SpawnerOptions spawner;
  std::vector<std::string> ids;
  std::string tag;
  bool all = false;
};

bool is_card(const std::string& what) {
  return what == "-" || what.ends_with(".json") || what.find('/') != std::string::npos;
}

// The keys of a card that belong to a request; the others narrow the template.
CommandOutcome<Json> request_of_card(const std::string& path) {
  const auto text = read_card(path);
  if (!text) return text.error();
  const Json card = Json::parse(*text);
  Json request{{"action", "spawn"}};
  Json narrower(std::initializer_list<Json::Member>{});
  for (const auto& [key, value] : card.members()) {
    if (key == "agent_id" || key == "id") {
      request.set("task_id", value);
    } else if (key == "template" || key == "tags" || key == "workspace") {
      request.set(key, value);
    } else if (key != "created") {
      narrower.set(key, value);
    }
  }
  if (!narrower.members().empty()) request.set("card", narrower);
  return request;
}

// The spawner makes a directory with the worker's id: a card names that one, or the one above it.
// --workspace is always the one above.
std::string parent_of_workspace(const std::string& workspace, const std::string& id) {
  const fs::path path{workspace};
  return path.filename() == id ? path.parent_path().string() : workspace;
}

int spawn(const SpawnOptions& options) {
  Json request{{"action", "spawn"}, {"template", options.what}};
  if (is_card(options.what)) {
    const auto read = request_of_card(options.what);
    if (!read) return print_failure(read.error(), options.spawner.json);
    request = *read;
  }
  if (!options.id.empty()) request.set("task_id", options.id);
  if (!has(request, "task_id")) {
    constexpr std::size_t bytes = 3;
    request.set("task_id",
                (is_card(options.what) ? "worker" : options.what) + '-' + random_hex(bytes));
  }
  if (!options.workspace.empty() || !has(request, "workspace")) {
    request.set("workspace", options.workspace.empty() ? default_workspace : options.workspace);
  } else {
    request.set("workspace",
                parent_of_workspace(text_of(request, "workspace"), text_of(request, "task_id")));
  }
  if (!options.tags.empty()) request.set("tags", Json{options.tags});
  if (const auto life = parse_duration(options.life)) {
    Json narrower = has(request, "card") ? object_of(request, "card")
                                         : Json(std::initializer_list<Json::Member>{});
    narrower.set("ttl_seconds", std::chrono::duration_cast<std::chrono::seconds>(*life).count());
    request.set("card", narrower);
  }
  const auto answer = ask_spawner(options.spawner, request);
  if (!answer) return print_failure(answer.error(), options.spawner.json);
  if (options.spawner.json) return print_json(answer->json);
  const auto id = text_of(answer->json, "task_id");
  std::cout << id << " spawned: template " << text_of(answer->json, "template") << ", workspace "
            << text_of(answer->json, "workspace") << "\n  note: to give it a task: stile send "
            << id << " MESSAGE\n";
  return fine;
}

CommandOutcome<std::vector<std::string>> ids_to_stop(const StopOptions& options) {
  if (!options.all && options.tag.empty()) return options.ids;
  const auto answer = ask_spawner(options.spawner, {{"action", "list"}});
  if (!answer) return answer.error();
  std::vector<std::string> ids;
  for (const Json& worker : list_of(answer->json, "workers")) {
    if (options.all || is_tagged(worker, options.tag)) ids.push_back(text_of(worker, "task_id"));
  }
  return ids;
}

int stop(const StopOptions& options) {
  const bool has_group = options.all || !options.tag.empty();
  if (options.ids.empty() == !has_group) return misuse("stop", "name workers, or --all, or --tag");
  const auto ids = ids_to_stop(options);
  if (!ids) return print_failure(ids.error(), options.spawner.json);
  int status = fine;
  Json stopped = Json::list();
  for (const auto& id : *ids) {
    const auto answer = ask_spawner(options.spawner, {{"action", "terminate"}, {"task_id", id}});
    if (!answer) {
      status = print_failure(answer.error(), false);
    } else {
      stopped.add(id);
      if (!options.spawner.json) std::cout << id << " terminated\n";
    }
  }
  if (options.spawner.json) std::cout << dump({{"terminated", stopped}}) << '\n';
  if (!options.spawner.json && ids->empty()) std::cout << "there is no such worker\n";
  return status;
}

}  // namespace

void add_spawn(Command& stile) {
  auto options = std::make_shared<SpawnOptions>();
  auto command = stile.add("spawn", "start a worker of stile-spawner");
  command.word("TEMPLATE", options->what, "a template of the operator, or a card (FILE.json)")
      .required();
  command.option("--id", options->id, "its id (default: a random one)");
  command.option("--workspace", options->workspace, "where its directory is made")
      .shown_as("DIRECTORY");
  command.options("--tag", options->tags, "a word to find it by").repeated();
  command.option("--for", options->life, "end it after this time: 10m, 1h").check(check_duration);
  add_spawner_options(command, options->spawner);
  command.examples(
      "Examples:\n"
      "  stile spawn default\n"
      "  stile spawn default --id alpha --tag nightly --for 10m\n"
      "  stile spawn alpha.json\n"
      "A card can only narrow the template: it cannot add a host, a file or a command.");
  command.does([options] { return spawn(*options); });
}

void add_stop(Command& stile) {
  auto options = std::make_shared<StopOptions>();
  auto command = stile.add("stop", "end workers and remove their namespaces");
  command.words("WORKER", options->ids, "their ids");
  command.flag("--all", options->all, "all workers");
  command.option("--tag", options->tag, "all workers with this tag");
  add_spawner_options(command, options->spawner);
  command.examples("Examples:\n  stile stop alpha\n  stile stop --tag nightly\n  stile stop --all");
  command.does([options] { return stop(*options); });
}

}  // namespace stile::cli
