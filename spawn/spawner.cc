// Spawner: the workers, and what callers may do with them.
#include "spawn/spawner.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/joined.h"
#include "base/json.h"
#include "base/quoted.h"
#include "base/random.h"
#include "base/sha256.h"
#include "config/json_loader.h"
#include "confine/paths.h"
#include "spawn/exchange.h"
#include "spawn/plan.h"
#include "spawn/token.h"
#include "spawn/unit.h"
#include "spawn/workspace.h"
#include "worker/request.h"

namespace stile::spawn {
namespace {

constexpr std::size_t instance_bytes = 16;
constexpr std::chrono::seconds worker_patience{
    10};                                         // for a worker's keeper, beside what it waits for
constexpr std::chrono::seconds end_patience{2};  // between the end of a unit and its removal
constexpr std::chrono::seconds before_again{1};  // between two attempts to clean up

void say(const std::string& text) { std::fprintf(stderr, "stile-spawner: %s\n", text.c_str()); }

std::string netns_path(const std::string& id) { return "/run/netns/agent-" + id; }

// Whether the fence still has something of an agent: its namespace, or what `stile-netns` notes
// about a change of it that was interrupted.
bool has_remains(const std::string& id) {
  if (::access(netns_path(id).c_str(), F_OK) == 0) return true;
  std::error_code failed;
  std::filesystem::directory_iterator entry{"/run/stile/netns", failed};
  for (; !failed && entry != std::filesystem::directory_iterator{}; entry.increment(failed)) {
    if (entry->path().filename().string().starts_with(id + '@')) return true;
  }
  return false;
}

worker::TaskRequest worker_request(const SpawnRequest& request) {
  worker::TaskRequest wanted;
  wanted.action = request.action == SpawnAction::run      ? worker::TaskAction::run
                  : request.action == SpawnAction::cancel ? worker::TaskAction::cancel
                  : request.action == SpawnAction::files  ? worker::TaskAction::files
                                                          : worker::TaskAction::output;
  wanted.message = request.message;
  wanted.run = request.run;
  wanted.cursor = request.cursor;
  wanted.wait_seconds = request.wait_seconds;
  return wanted;
}

// The list of tasks in the answer of a worker's keeper; "": there is none.
std::string runs_in(const Result<std::string>& answer) {
  const auto document = config::json_or_null(answer ? *answer : "");
  const auto* runs = document.find("runs");
  return runs == nullptr ? "" : config::json_text(*runs);
}

UnitFacts facts_of(const WorkerRecord& record, const std::string& netns) {
  UnitFacts facts;
  facts.id = record.id;
  facts.instance = record.instance;
  facts.netns = netns;
  return facts;
}

bool is_running(const std::vector<Manager::Known>& units, const std::string& name) {
  return std::any_of(units.begin(), units.end(), [&](const Manager::Known& unit) {
    return unit.name == name && unit.active_state != "inactive" && unit.active_state != "failed";
  });
}

}  // namespace

Spawner::Spawner(Parts parts, SpawnSettings settings)
    : parts_{std::move(parts)}, settings_{std::move(settings)} {
  parts_.manager->on_removed([this](const std::string& unit) { removed(unit); });
}

Result<void> Spawner::recover() {
  const auto units = parts_.manager->list(unit_name("*"));
  if (!units) return units.error();
  const auto is_alive = [&](const std::string& id) { return is_running(*units, unit_name(id)); };
  for (auto& record : parts_.records.all()) {
    if (is_alive(record.id)) {
      say("worker " + record.id + " found again");
      const auto id = record.id;
      workers_[id] = {std::move(record), State::running};
    } else {
      say("worker " + record.id + " has ended without us");
      parts_.journal->note(nullptr, {"end", record.id, "found ended"});
      clean_up({std::move(record)});
    }
  }
  for (const auto& unit : *units) {
    const auto id = id_of_unit(unit.name);
    if (id.empty() || find(id) != nullptr || !is_alive(id)) continue;
    say("unit " + unit.name + " belongs to no worker and is stopped");
    parts_.manager->stop(unit.name, [](const Result<void>&) {});
  }
  return {};
}

// systemd removed the namespace, or it is removed now: with the instance, no other agent's.
void Spawner::clean_up(Cleaning cleaning) {
  const auto id = cleaning.record.id;
  const bool is_clean = !has_remains(id);
  const auto unit = cleanup_unit(facts_of(cleaning.record, parts_.netns));
  cleaning.owner = this;
  cleanings_[id] = std::move(cleaning);
  if (is_clean) return cleaned(id, {});
  parts_.manager->start(unit, [this, id](const Result<void>& result) { cleaned(id, result); });
}

void Spawner::cleaned(const std::string& id, const Result<void>& result) {
  if (!result) {
    say("cannot clean up after worker " + id + ": " + result.error().message);
    auto& cleaning = cleanings_[id];
    cleaning.timer = add_timer(parts_.loop, before_again, on_again, &cleaning);
    return;
  }
  const auto cleaning = cleanings_.extract(id);
  parts_.records.remove(id);
  for (const auto& reply : cleaning.mapped().waiting) reply(terminated_answer(id));
}

int Spawner::on_again(sd_event_source* /*source*/, std::uint64_t /*now*/, void* userdata) {
  auto& spawner = *static_cast<Cleaning*>(userdata)->owner;
  auto cleaning = spawner.cleanings_.extract(static_cast<Cleaning*>(userdata)->record.id);
  cleaning.mapped().timer.reset();
  spawner.clean_up(std::move(cleaning.mapped()));
  return 0;
}

Spawner::Worker* Spawner::find(const std::string& id) {
  const auto found = workers_.find(id);
  return found == workers_.end() ? nullptr : &found->second;
}

ListedWorker Spawner::listed(const Worker& worker) const {
  return {&worker.record, worker.state == State::starting  ? "starting"
                          : worker.state == State::running ? "running"
                                                           : "ending"};
}

void Spawner::refuse(const Caller& peer, const SpawnRequest& request, const std::string& problem,
                     const Reply& reply) {
  parts_.journal->refuse(peer, {text(request.action), request.task_id, problem});
  reply(error_answer(problem));
}

void Spawner::serve(const Caller& peer, const std::string& bytes, const Reply& reply) {
  const auto request = parse_request(bytes);
  if (!request) {
    parts_.journal->refuse(peer, {"request", "", request.error().message});
    return reply(error_answer(request.error().message));
  }
  switch (request->action) {
    case SpawnAction::spawn:
      return spawn(peer, *request, reply);
    case SpawnAction::list: {
      std::vector<ListedWorker> all;
      for (const auto& [id, worker] : workers_) all.push_back(listed(worker));
      return reply(list_answer(all));
    }
    default:
      break;
  }
  auto* worker = find(request->task_id);
  if (request->action == SpawnAction::validate_token) {
    const bool is_valid =
        worker != nullptr && is_token(request->token.value_or(""), worker->record.token_hash);
    if (!is_valid) parts_.journal->refuse(peer, {"validate_token", request->task_id, "not valid"});
    return reply(token_answer(worker != nullptr, is_valid));
  }
  if (worker == nullptr) {
    return refuse(peer, *request, "Worker " + request->task_id + " not found", reply);
  }
  // A caller that acts for the owner of a token loses the worker with it, also if a new one has the
  // same id.
  if (request->token && !is_token(*request->token, worker->record.token_hash)) {
    return refuse(peer, *request, "The token is not valid", reply);
  }
  switch (request->action) {
    case SpawnAction::terminate:
      return terminate(peer, *request, reply);
    case SpawnAction::status:
      return status(*worker, reply);
    case SpawnAction::files:
      if (request->run && !request->path.empty()) {
        return refuse(peer, *request, "files takes path or run, not both", reply);
      }
      if (request->run) return ask_worker(peer, *request, reply);  // what that task changed
      [[fallthrough]];
    case SpawnAction::read_file:
      return look(*worker, *request, reply);
    default:
      return ask_worker(peer, *request, reply);
  }
}

// In the order of the errors that callers know.
Result<const Template*> Spawner::check(const SpawnRequest& request) const {
  if (!is_allowed_workspace(request.workspace, settings_.allowed_workspaces)) {
    return Error{"Workspace not in allowed directories: " + joined(settings_.allowed_workspaces)};
  }
  const auto* from = settings_.find(request.template_name);
  if (from == nullptr) {
    return Error{"Unknown template: " + in_quotes(request.template_name) + "; there are: " +
                 joined_texts(settings_.templates, [](const Template& one) { return one.name; })};
  }
  if (workers_.count(request.task_id) != 0) {
    return Error{"Worker " + request.task_id + " already exists"};
  }
  if (cleanings_.count(request.task_id) != 0) {
    return Error{"Worker " + request.task_id + " is still being removed"};
  }
  if (::access(netns_path(request.task_id).c_str(), F_OK) == 0) {
    return Error{"An agent " + request.task_id + " already exists"};
  }
  if (workers_.size() >= settings_.max_workers) {
    return Error{"Maximum workers (" + std::to_string(settings_.max_workers) + ") reached"};
  }
  const std::chrono::seconds cooldown{settings_.spawn_cooldown_seconds};
  if (last_spawn_ && Clock::now() < *last_spawn_ + cooldown) {
    return Error{"Spawn cooldown: wait " + std::to_string(cooldown.count()) + "s between spawns"};
  }
  return from;
}

// Writes everything that the worker's unit needs. The record gets all but its token.
Result<Spawner::Prepared> Spawner::prepare(const Caller& peer, const SpawnRequest& request,
                                           const Template& from, WorkerRecord& record) const {
  // A request that is refused leaves nothing behind, so the directory is made last.
  record.workspace = workspace_of(request.workspace, request.task_id);
  for (const auto& [id, other] : workers_) {
    const auto& taken = other.record.workspace;
    if (confine::is_within(record.workspace, taken) ||
        confine::is_within(taken, record.workspace)) {
      return Error{"Workspace is in use by worker " + id};
    }
  }
  record.id = request.task_id;
  record.instance = random_hex(instance_bytes);
  record.template_name = from.name;
  record.started = unix_micros();
  record.caller = peer.uid;
  auto plan = plan_worker(from, request,
                          {record.workspace, record.instance, record.caller, record.started});
  if (!plan) return plan.error();
  if (auto made = make_workspace(request.workspace, request.task_id, settings_.allowed_workspaces,
                                 peer.uid);
      !made) {
    return made.error();
  }
  record.tags = std::move(plan->tags);
  record.ttl_seconds = plan->ttl_seconds;
  plan->file.socket = parts_.records.path_of(record.id, socket_file);
  if (auto written =
          parts_.records.write(record, {plan->card, worker::worker_file_text(plan->file)});
      !written) {
    return written.error();
  }
  auto facts = facts_of(record, parts_.netns);
  facts.card = parts_.records.path_of(record.id, card_file);
  facts.worker_file = parts_.records.path_of(record.id, worker_file);
  facts.limits = plan->limits;
  facts.ttl_seconds = plan->ttl_seconds;
  return Prepared{worker_unit(facts), policy_text(*plan)};
}

void Spawner::spawn(const Caller& peer, const SpawnRequest& request, const Reply& reply) {
  const auto from = check(request);
  if (!from) return refuse(peer, request, from.error().message, reply);
  const auto id = request.task_id;
  const auto token = new_token();
  WorkerRecord record;
  record.token_hash = sha256_text(token);
  const auto prepared = prepare(peer, request, **from, record);
  if (!prepared) {
    parts_.records.remove(id);
    return refuse(peer, request, prepared.error().message, reply);
  }
  const auto detail = "template " + record.template_name + ", workspace " + record.workspace +
                      ", " + prepared->policy;
  if (!parts_.journal->grant(peer, {"spawn", id, detail})) {
    parts_.records.remove(id);
    return reply(error_answer("The audit log cannot be written"));
  }
  last_spawn_ = Clock::now();
  workers_[id] = {std::move(record), State::starting};
  parts_.manager->start(prepared->unit, [this, id, token, reply](const Result<void>& result) {
    started(id, result, token, reply);
  });
}

void Spawner::started(const std::string& id, const Result<void>& result, const std::string& token,
                      const Reply& reply) {
  auto* worker = find(id);
  if (result && worker != nullptr && worker->state != State::ending) {
    worker->state = State::running;
    return reply(spawned_answer(worker->record, token));
  }
  const auto why = result ? std::string{"it ended at once"} : result.error().message;
  say("worker " + id + " did not start: " + why);
  reply(
      error_answer("Failed to spawn " + id + ": " + why + "; see: journalctl -u " + unit_name(id)));
  if (worker != nullptr && worker->state == State::starting) forget(id);
}

void Spawner::terminate(const Caller& peer, const SpawnRequest& request, const Reply& reply) {
  auto& worker = *find(request.task_id);
  const auto id = request.task_id;
  worker.waiting.push_back(reply);
  if (worker.state == State::ending) return;
  parts_.journal->note(&peer, {"terminate", id, ""});
  worker.state = State::ending;
  parts_.manager->stop(unit_name(id),
                       [this, id](const Result<void>& result) { stopped(id, result); });
}

// The unit has ended. Its name is free only after systemd has forgotten it.
void Spawner::stopped(const std::string& id, const Result<void>& result) {
  auto* worker = find(id);
  if (worker == nullptr) return;
  if (!result) say("stop of worker " + id + ": " + result.error().message);
  worker->owner = this;
  worker->timer = add_timer(parts_.loop, end_patience, on_late, worker);
  if (!worker->timer) forget(id);
}

int Spawner::on_late(sd_event_source* /*source*/, std::uint64_t /*now*/, void* userdata) {
  const auto& worker = *static_cast<const Worker*>(userdata);
  worker.owner->forget(std::string{worker.record.id});
  return 0;
}

void Spawner::removed(const std::string& unit) {
  const auto id = id_of_unit(unit);
  const auto* worker = id.empty() ? nullptr : find(id);
  // A unit that is being started is reported by its job.
  if (worker == nullptr || worker->state == State::starting) return;
  // When systemd reads its files again, it forgets all units and then knows them again. If it does
  // not say, the worker stays: what has ended is found at the next start.
  const auto units = parts_.manager->list(unit);
  if (!units) return say("worker " + id + " may have ended: " + units.error().message);
  if (!is_running(*units, unit)) forget(id);
}

void Spawner::forget(const std::string& id) {
  auto worker = workers_.extract(id);
  if (worker.empty()) return;
  parts_.journal->note(nullptr, {"end", id, ""});
  clean_up({std::move(worker.mapped().record), std::move(worker.mapped().waiting)});
}

void Spawner::status(const Worker& worker, const Reply& reply) {
  const auto id = worker.record.id;
  exchange(parts_.loop, parts_.records.path_of(id, socket_file), worker::request_text({}),
           worker_patience, [this, id, reply](const Result<std::string>& answer) {
             const auto* known = find(id);
             if (known == nullptr) return reply(error_answer("Worker " + id + " not found"));
             reply(status_answer(listed(*known), parts_.manager->state_of(unit_name(id)),
                                 runs_in(answer)));
           });
}

void Spawner::ask_worker(const Caller& peer, const SpawnRequest& request, const Reply& reply) {
  const Journal::Entry entry{text(request.action), request.task_id, ""};
  if (request.action == SpawnAction::run) {
    if (!parts_.journal->grant(peer, entry)) {
      return reply(error_answer("The audit log cannot be written"));
    }
  } else if (request.action == SpawnAction::cancel) {
    parts_.journal->note(&peer, entry);
  }
  exchange(parts_.loop, parts_.records.path_of(request.task_id, socket_file),
           worker::request_text(worker_request(request)),
           worker_patience + std::chrono::seconds{request.wait_seconds},
           [reply](const Result<std::string>& answer) {
             reply(answer ? *answer : error_answer(answer.error().message));
           });
}

void Spawner::look(const Worker& worker, const SpawnRequest& request, const Reply& reply) const {
  // Its unit has yet to check the workspace.
  if (worker.state == State::starting) return reply(error_answer("The worker is still starting"));
  const auto& workspace = worker.record.workspace;
  const auto caller = worker.record.caller;
  if (request.action == SpawnAction::files) {
    const auto listing = list_files(workspace, request.path, caller);
    return reply(listing ? files_answer(request.task_id, request.path, *listing)
                         : error_answer(listing.error().message));
  }
  const auto content = read_piece(workspace, request.path, request.offset, caller);
  reply(content ? content_answer(request.task_id, request.path, *content)
                : error_answer(content.error().message));
}

}  // namespace stile::spawn
