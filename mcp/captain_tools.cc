// captain_tools: names, descriptions and schemas.
#include "mcp/captain_tools.h"

#include <array>

namespace stile::mcp {
namespace {

struct Definition {
  const char* name;
  const char* title;
  const char* description;
  bool only_reads, destroys, is_idempotent, reaches_out;
  const char* input;   // JSON, the properties
  const char* needed;  // JSON, the required ones
  const char* output;
  const char* certain;  // JSON, those that a result always has
};

#define STILE_WORKER \
  R"("worker":{"type":"string","minLength":1,"maxLength":64,"description":"Id of the worker"})"
#define STILE_TASK \
  R"("task":{"type":"integer","minimum":0,"description":"Number of the task; the latest one if left out"})"
#define STILE_URL \
  R"("url":{"type":"string","minLength":1,"maxLength":2048,"description":"https://HOST, https://HOST:PORT/PATH or http://HOST"})"
#define STILE_METHOD \
  R"("method":{"type":"string","minLength":1,"maxLength":32,"description":"GET, POST or another method of HTTP"})"
#define STILE_LISTED                                                                       \
  R"("worker":{"type":"string"},"status":{"type":"string"},"template":{"type":"string"},)" \
  R"("tags":{"type":"array","items":{"type":"string"}},"workspace":{"type":"string"},)"    \
  R"("started_at":{"type":"integer"},"expires_at":{"type":"integer"})"
#define STILE_FILES                                                                    \
  R"("type":"array","items":{"type":"object","properties":{"name":{"type":"string"},)" \
  R"("size":{"type":"integer"},"is_directory":{"type":"boolean"},)"                    \
  R"("modified_at":{"type":"integer"}},"required":["name","size","is_directory","modified_at"]}})"
#define STILE_OUTPUT                                                                                               \
  R"({"worker":{"type":"string"},"task":{"type":"integer"},)"                                                      \
  R"("status":{"type":"string","enum":["running","completed","failed","canceled"]},)"                              \
  R"("exit_status":{"type":"integer"},"output":{"type":"string"},)"                                                \
  R"("cursor":{"type":"integer","description":"For read_output: where this output ends"},)"                        \
  R"("missed":{"type":"integer","description":"Bytes of output that are no longer kept, or did not fit"},)"        \
  R"("files":{"description":"Files of the workspace that the task changed; there when it has ended",)" STILE_FILES \
  R"(,"truncated":{"type":"boolean","description":"It changed more files"}})"

constexpr std::array<Definition, 12> definitions{{
    {"spawn_worker", "Spawn a worker",
     "Starts a worker from a template of the operator. The optional limits can only make the "
     "template narrower. Returns the id that the other tools need.",
     false, false, false, false,
     R"({"worker":{"type":"string","minLength":1,"maxLength":64,"description":"Id for the worker: a-z, 0-9 and -; chosen if left out"},
"template":{"type":"string","minLength":1,"maxLength":64,"default":"default","description":"Which template of the operator"},
"workspace":{"type":"string","minLength":1,"maxLength":4000,"default":"/mnt/agents","description":"Directory in which the worker's own directory is created"},
"tags":{"type":"array","maxItems":16,"items":{"type":"string","minLength":1,"maxLength":64}},
"ttl_seconds":{"type":"integer","minimum":1,"maximum":3153600000,"description":"The worker ends after this time"},
"allowed_hosts":{"type":"array","maxItems":200,"items":{"type":"string","minLength":1,"maxLength":300},"description":"Only these of the template's hosts"},
"read":{"type":"array","maxItems":64,"items":{"type":"string","minLength":1,"maxLength":4000},"description":"Only these of the template's files; relative paths begin at the workspace"},
"write":{"type":"array","maxItems":64,"items":{"type":"string","minLength":1,"maxLength":4000},"description":"Only these can be written; everything else becomes read-only"},
"resource_limits":{"type":"object","maxProperties":8,"additionalProperties":{"type":"integer","minimum":1},"description":"memory_mb, cpu_percent, max_processes and others, each at most the template's"}})",
     "[]",
     R"({"worker":{"type":"string"},"status":{"type":"string"},"template":{"type":"string"},"workspace":{"type":"string"},"expires_at":{"type":"integer","description":"Seconds since 1970"}})",
     R"(["worker","status","template","workspace"])"},
    {"list_workers", "List workers", "Lists the workers that run now.", true, false, false, false,
     R"({"tag":{"type":"string","minLength":1,"maxLength":64,"description":"Only those with this tag"}})",
     "[]",
     R"({"workers":{"type":"array","items":{"type":"object","properties":{)" STILE_LISTED
     R"(},"required":["worker","status","template","tags","workspace","started_at"]}}})",
     R"(["workers"])"},
    {"get_worker_status", "Status of a worker",
     "Shows one worker: what it uses, how long it lives, and its tasks.", true, false, false, false,
     "{" STILE_WORKER "}", R"(["worker"])",
     "{" STILE_LISTED
     R"(,"memory_bytes":{"type":"integer"},"processes":{"type":"integer"},"cpu_nanoseconds":{"type":"integer"},
"tasks":{"type":"array","items":{"type":"object","properties":{"task":{"type":"integer"},"status":{"type":"string"},"exit_status":{"type":"integer"},"started_at":{"type":"integer"},"ended_at":{"type":"integer"}},"required":["task","status"]}}})",
     R"(["worker","status","template","tags","workspace","started_at","tasks"])"},
    {"terminate_worker", "Terminate a worker",
     "Ends a worker with everything that it runs, and removes its namespace. Its files stay.",
     false, true, true, false, "{" STILE_WORKER "}", R"(["worker"])",
     R"({"worker":{"type":"string"},"status":{"type":"string"}})", R"(["worker","status"])"},
    {"send_task", "Send a task",
     "Starts a task in a worker and waits for its end, up to wait_seconds. The message is what the "
     "task reads as its input. If the status is then still \"running\", go on with read_output and "
     "the cursor. Canceling the call cancels the task.",
     false, true, false, true,
     "{" STILE_WORKER
     R"(,"message":{"type":"string","minLength":1,"maxLength":60000},"wait_seconds":{"type":"integer","minimum":0,"maximum":3600,"default":50,"description":"0: return as soon as it runs"}})",
     R"(["worker","message"])", STILE_OUTPUT,
     R"(["worker","task","status","output","cursor","missed"])"},
    {"read_output", "Read the output of a task",
     "Returns what a task wrote after the cursor. With wait_seconds it waits until there is "
     "something, or the task ends.",
     true, false, false, false,
     "{" STILE_WORKER "," STILE_TASK
     R"(,"cursor":{"type":"integer","minimum":0,"description":"Of the last result; from the beginning if left out"},"wait_seconds":{"type":"integer","minimum":0,"maximum":3600,"default":0}})",
     R"(["worker"])", STILE_OUTPUT, R"(["worker","task","status","output","cursor","missed"])"},
    {"cancel_task", "Cancel a task",
     "Ends a running task and what it has moved to the background: SIGTERM, five seconds later "
     "SIGKILL. The worker goes on.",
     false, true, true, false, "{" STILE_WORKER "," STILE_TASK "}", R"(["worker"])",
     R"({"worker":{"type":"string"},"task":{"type":"integer"},"status":{"type":"string"}})",
     R"(["worker","status"])"},
    {"list_files", "List files",
     "Lists a directory of a worker's workspace, or with task all files that this task changed. "
     "Symbolic links are not followed.",
     true, false, false, false,
     "{" STILE_WORKER
     R"(,"path":{"type":"string","maxLength":4000,"description":"Relative to the workspace; the workspace itself if left out"},"task":{"type":"integer","minimum":0,"description":"Number of a task: only the files that it changed, in all directories"}})",
     R"(["worker"])",
     R"({"worker":{"type":"string"},"path":{"type":"string"},"files":{)" STILE_FILES
     R"(,"truncated":{"type":"boolean"}})",
     R"(["worker","path","files","truncated"])"},
    {"read_file", "Read a file",
     "Reads a regular file of a worker's workspace, piece by piece: go on with next_offset until "
     "it "
     "is the size.",
     true, false, false, false,
     "{" STILE_WORKER
     R"(,"path":{"type":"string","minLength":1,"maxLength":4000,"description":"Relative to the workspace"},"offset":{"type":"integer","minimum":0,"default":0}})",
     R"(["worker","path"])",
     R"({"worker":{"type":"string"},"path":{"type":"string"},"encoding":{"type":"string","enum":["utf-8","base64"]},"content":{"type":"string"},"offset":{"type":"integer"},"next_offset":{"type":"integer"},"size":{"type":"integer"}})",
     R"(["worker","path","encoding","content","offset","next_offset","size"])"},
    {"explain_access", "Explain access",
     "Says whether a worker may reach a URL, and why. Sends nothing.", true, false, false, false,
     "{" STILE_WORKER "," STILE_URL "," STILE_METHOD "}", R"(["worker","url"])",
     R"({"worker":{"type":"string"},"verdict":{"type":"string"},"reason":{"type":"string"},"rule":{"type":"string"},"message":{"type":"string"},"asks":{"type":"boolean","description":"Whether a person can be asked: request_access"},"steps":{"type":"array","items":{"type":"object","properties":{"step":{"type":"string"},"result":{"type":"string"},"detail":{"type":"string"}},"required":["step","result","detail"]}}})",
     R"(["worker","verdict","reason","message","asks","steps"])"},
    {"request_access", "Request access",
     "Asks a person whether a worker may reach a URL. Grants nothing by itself. With wait_seconds "
     "it waits for the answer.",
     false, false, true, true,
     "{" STILE_WORKER "," STILE_URL "," STILE_METHOD
     R"(,"reason":{"type":"string","maxLength":256,"description":"Why the worker needs it; the person reads this"},"wait_seconds":{"type":"integer","minimum":0,"maximum":3600,"default":0}})",
     R"(["worker","url"])",
     R"({"worker":{"type":"string"},"state":{"type":"string","enum":["open","allowed","refused"]},"ask":{"type":"string","description":"Its id, as `stile asks` shows it"},"host":{"type":"string"},"port":{"type":"integer"}})",
     R"(["worker","state"])"},
    {"containment_status", "Containment status",
     "Says of each worker, or of one, whether its network is confined: the daemon knows it and "
     "enforces its policy. Problems are listed.",
     true, false, false, false,
     R"({"worker":{"type":"string","minLength":1,"maxLength":64,"description":"Only this one"}})",
     "[]",
     R"({"contained":{"type":"boolean","description":"All of them are"},"daemon":{"type":"object","properties":{"version":{"type":"string"},"mode":{"type":"string"},"draining":{"type":"boolean"}},"required":["version","mode","draining"]},
"workers":{"type":"array","items":{"type":"object","properties":{"worker":{"type":"string"},"contained":{"type":"boolean"},"problems":{"type":"array","items":{"type":"string"}},"mode":{"type":"string"},"connections":{"type":"integer"},"grants":{"type":"integer"},"requests_allowed":{"type":"integer"},"requests_denied":{"type":"integer"}},"required":["worker","contained","problems"]}}})",
     R"(["contained","workers"])"},
}};

#undef STILE_WORKER
#undef STILE_TASK
#undef STILE_URL
#undef STILE_METHOD
#undef STILE_LISTED
#undef STILE_FILES
#undef STILE_OUTPUT

Json object_schema(const char* properties, const char* required, bool is_closed) {
  Json schema{{"type", "object"}, {"properties", Json::parse(properties)}};
  const Json names = Json::parse(required);
  if (!names.empty()) schema.set("required", names);
  if (is_closed) schema.set("additionalProperties", false);
  return schema;
}

}  // namespace

std::vector<Tool> captain_tools() {
  std::vector<Tool> tools;
  for (const auto& one : definitions) {
    Tool tool{one.name,
              one.title,
              one.description,
              one.only_reads,
              one.destroys,
              one.is_idempotent,
              one.reaches_out,
              object_schema(one.input, one.needed, true),
              object_schema(one.output, one.certain, false)};
    tools.push_back(std::move(tool));
  }
  return tools;
}

}  // namespace stile::mcp
