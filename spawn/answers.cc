// answers: what the spawner says.
#include "spawn/answers.h"

#include "base/base64.h"
#include "base/json.h"
#include "base/utf8.h"
#include "spawn/texts.h"

namespace stile::spawn {
namespace {

void add_worker(JsonObject& object, const ListedWorker& worker) {
  const auto& record = *worker.record;
  object.add("task_id", record.id)
      .add("workspace", record.workspace)
      .add("template", record.template_name)
      .add("tags", record.tags)
      .add("status", worker.state)
      .add("started_at", record.started / micros_in_second);
  if (record.ttl_seconds > 0) {
    object.add("expires_at", record.started / micros_in_second + record.ttl_seconds);
  }
}

}  // namespace

std::string error_answer(std::string_view message) {
  std::string out;
  JsonObject{out}.add("error", valid_utf8(message));
  return out;
}

std::string spawned_answer(const WorkerRecord& record, const std::string& token) {
  std::string out;
  {
    JsonObject object{out};
    object.add("task_id", record.id)
        .add("workspace", record.workspace)
        .add("auth_token", token)
        .add("template", record.template_name)
        .add("status", "spawned");
    if (record.ttl_seconds > 0) {
      object.add("expires_at", record.started / micros_in_second + record.ttl_seconds);
    }
  }
  return out;
}

std::string terminated_answer(const std::string& id) {
  std::string out;
  JsonObject{out}.add("task_id", id).add("status", "terminated");
  return out;
}

std::string token_answer(bool is_known, bool is_valid) {
  std::string out;
  {
    JsonObject object{out};
    object.add("valid", is_valid);
    if (!is_known) object.add("error", "Worker not found");
  }
  return out;
}

std::string list_answer(const std::vector<ListedWorker>& workers) {
  std::string out;
  {
    JsonObject object{out};
    JsonArray list{object.key("workers")};
    for (const auto& worker : workers) {
      JsonObject entry{list.next()};
      add_worker(entry, worker);
    }
  }
  return out;
}

std::string status_answer(const ListedWorker& worker, const UnitState& unit,
                          const std::string& runs) {
  std::string out;
  {
    JsonObject object{out};
    add_worker(object, worker);
    if (unit.memory_bytes) object.add("memory_bytes", *unit.memory_bytes);
    if (unit.processes) object.add("processes", *unit.processes);
    if (unit.cpu_nanoseconds) object.add("cpu_nanoseconds", *unit.cpu_nanoseconds);
    if (!runs.empty()) object.key("runs") += runs;
  }
  return out;
}

std::string files_answer(const std::string& id, const std::string& path, const Listing& listing) {
  std::string out;
  {
    JsonObject object{out};
    object.add("task_id", id).add("path", valid_utf8(path));
    {
      JsonArray list{object.key("files")};
      for (const auto& file : listing.files) {
        JsonObject{list.next()}
            .add("name", valid_utf8(file.name))
            .add("size", file.size)
            .add("is_dir", file.is_directory)
            .add("modified_at", file.modified_at);
      }
    }
    object.add("truncated", listing.is_cut);
  }
  return out;
}

std::string content_answer(const std::string& id, const std::string& path,
                           const FileContent& content) {
  std::string out;
  {
    JsonObject object{out};
    object.add("task_id", id)
        .add("path", valid_utf8(path))
        .add("encoding", content.is_text ? "utf-8" : "base64")
        .add("content", content.is_text ? content.bytes : base64(content.bytes))
        .add("offset", content.offset)
        .add("next_offset", content.next_offset)
        .add("size", content.size);
  }
  return out;
}

}  // namespace stile::spawn
