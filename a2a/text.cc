// text: tasks, events and cards as JSON.
#include "a2a/text.h"

#include <algorithm>
#include <charconv>

#include "base/json.h"

namespace stile::a2a {
namespace {

std::string_view state_text(State state, Dialect dialect) {
  const bool is_v1 = dialect == Dialect::v1;
  switch (state) {
    case State::working:
      return is_v1 ? "TASK_STATE_WORKING" : dialect == Dialect::plain ? "running" : "working";
    case State::completed:
      return is_v1 ? "TASK_STATE_COMPLETED" : "completed";
    case State::canceled:
      return is_v1 ? "TASK_STATE_CANCELED" : "canceled";
    case State::auth_required:
      return is_v1 ? "TASK_STATE_AUTH_REQUIRED" : "auth-required";
    case State::failed:
      break;
  }
  return is_v1 ? "TASK_STATE_FAILED" : "failed";
}

// 1.0 tells kinds of objects apart by the name of the member that holds them, 0.3 by `kind`.
void add_kind(JsonObject& object, Dialect dialect, std::string_view kind) {
  if (dialect == Dialect::v03) object.add("kind", kind);
}

void add_text_part(std::string& out, std::string_view text, Dialect dialect) {
  JsonArray parts{out};
  JsonObject part{parts.next()};
  add_kind(part, dialect, "text");
  part.add("text", text);
  if (dialect == Dialect::v1) part.add("mediaType", "text/plain");
}

void add_status(std::string& out, const Task& task, Dialect dialect) {
  JsonObject status{out};
  status.add("state", state_text(task.state, dialect)).add("timestamp", time_text(task.time));
  if (task.explanation.empty()) return;
  JsonObject message{status.key("message")};
  add_kind(message, dialect, "message");
  message.add("messageId", task.id + "-status")
      .add("role", dialect == Dialect::v1 ? "ROLE_AGENT" : "agent")
      .add("taskId", task.id)
      .add("contextId", task.context);
  add_text_part(message.key("parts"), task.explanation, dialect);
}

void add_artifact(std::string& out, const TaskOutput& output, Dialect dialect) {
  JsonObject artifact{out};
  artifact.add("artifactId", "output").add("name", "output");
  add_text_part(artifact.key("parts"), output.text, dialect);
  if (output.missed == 0) return;
  JsonObject{artifact.key("metadata")}.add("missedBytes", output.missed);
}

void add_file(std::string& out, const File& file) {
  JsonObject{out}
      .add("name", file.name)
      .add("size", file.size)
      .add("modifiedAt", time_text(file.modified_at * micros_in_second));
}

// The content of a file is read with /files/content.
void add_files_artifact(std::string& out, const TaskOutput& output, Dialect dialect) {
  JsonObject artifact{out};
  artifact.add("artifactId", "files").add("name", "files");
  JsonArray parts{artifact.key("parts")};
  JsonObject part{parts.next()};
  add_kind(part, dialect, "data");
  {
    JsonObject data{part.key("data")};
    {
      JsonArray list{data.key("files")};
      for (const auto& file : output.files) add_file(list.next(), file);
    }
    data.add("truncated", output.has_more_files);
  }
  if (dialect == Dialect::v1) part.add("mediaType", "application/json");
}

void add_event_head(const Task& task, JsonObject& object, Dialect dialect, std::string_view kind) {
  add_kind(object, dialect, kind);
  object.add("taskId", task.id).add("contextId", task.context);
}

// In 1.0 an event is the only member of an object.
std::string event_text(std::string_view name, std::string body, Dialect dialect) {
  if (dialect != Dialect::v1) return body;
  std::string out;
  JsonObject{out}.key(name) += body;
  return out;
}

std::string plain_status(const Task& task) {
  std::string out;
  {
    JsonObject object{out};
    object.add("id", task.id).add("status", state_text(task.state, Dialect::plain));
    if (is_over(task.state) && task.output) {
      JsonArray list{object.key("artifacts")};
      for (const auto& file : task.output->files) JsonObject{list.next()}.add("name", file.name);
    }
  }
  return out;
}

bool is_newer(const Task& left, const Task& right) {
  if (left.time != right.time) return left.time > right.time;
  return left.id.size() != right.id.size() ? left.id.size() > right.id.size() : left.id > right.id;
}

// A page token is the place of the last task of the page before.
std::string token_of(const Task& task) { return std::to_string(task.time) + '.' + task.id; }

std::optional<Task> parse_token(std::string_view token) {
  const auto point = token.find('.');
  if (point == std::string_view::npos) return std::nullopt;
  Task place;
  const auto [stop, problem] = std::from_chars(token.data(), token.data() + point, place.time);
  if (problem != std::errc{} || stop != token.data() + point) return std::nullopt;
  place.id = token.substr(point + 1);
  return place;
}

void add_interfaces(std::string& out, const std::string& url) {
  JsonArray list{out};
  const auto add = [&](const std::string& place, std::string_view binding,
                       std::string_view version) {
    JsonObject{list.next()}
        .add("url", place)
        .add("protocolBinding", binding)
        .add("protocolVersion", version);
  };
  add(url + std::string{rpc_path}, "JSONRPC", "1.0");
  add(url, "HTTP+JSON", "1.0");
  add(url + std::string{rpc_path}, "JSONRPC", "0.3");
}

void add_skills(std::string& out) {
  JsonArray list{out};
  JsonObject{list.next()}
      .add("id", "task")
      .add("name", "Run a task")
      .add("description",
           "Starts the worker's task command with the text on its standard input. "
           "The artifacts are what the command writes, and a list of the files that it changes.")
      .add("tags", std::vector<std::string>{"task", "sandbox"});
}

}  // namespace

std::string task_text(const Task& task, Dialect dialect) {
  std::string out;
  {
    JsonObject object{out};
    add_kind(object, dialect, "task");
    object.add("id", task.id).add("contextId", task.context);
    add_status(object.key("status"), task, dialect);
    if (task.output) {
      JsonArray artifacts{object.key("artifacts")};
      // An artifact has at least one part, so that no output is no artifact.
      if (!task.output->text.empty()) add_artifact(artifacts.next(), *task.output, dialect);
      if (!task.output->files.empty()) add_files_artifact(artifacts.next(), *task.output, dialect);
    }
  }
  return out;
}

std::string sent_text(const Task& task, Dialect dialect) { return task_event(task, dialect); }

std::string task_event(const Task& task, Dialect dialect) {
  if (dialect == Dialect::plain) return plain_status(task);
  return event_text("task", task_text(task, dialect), dialect);
}

std::string status_event(const Task& task, Dialect dialect) {
  if (dialect == Dialect::plain) return plain_status(task);
  std::string out;
  {
    JsonObject object{out};
    add_event_head(task, object, dialect, "status-update");
    add_status(object.key("status"), task, dialect);
    if (dialect == Dialect::v03) object.add("final", is_over(task.state));
  }
  return event_text("statusUpdate", std::move(out), dialect);
}

std::string output_event(const Task& task, const TaskOutput& output, bool is_first,
                         Dialect dialect) {
  std::string out;
  if (dialect == Dialect::plain) {
    JsonObject object{out};
    object.add("role", "assistant");
    add_text_part(object.key("parts"), output.text, dialect);
  } else {
    JsonObject object{out};
    add_event_head(task, object, dialect, "artifact-update");
    add_artifact(object.key("artifact"), output, dialect);
    object.add("append", !is_first).add("lastChunk", false);
  }
  return event_text("artifactUpdate", std::move(out), dialect);
}

std::string files_event(const Task& task, const TaskOutput& output, Dialect dialect) {
  std::string out;
  {
    JsonObject object{out};
    add_event_head(task, object, dialect, "artifact-update");
    add_files_artifact(object.key("artifact"), output, dialect);
    object.add("append", false).add("lastChunk", true);
  }
  return event_text("artifactUpdate", std::move(out), dialect);
}

TaskPage select(std::vector<Task> all, const ListFilter& filter) {
  std::erase_if(all, [&](const Task& task) {
    return (!filter.context.empty() && task.context != filter.context) ||
           (filter.state && task.state != *filter.state) ||
           (filter.after && task.time < *filter.after);
  });
  std::sort(all.begin(), all.end(), is_newer);
  TaskPage page;
  page.total = all.size();
  auto first = all.begin();
  if (!filter.page_token.empty()) {
    const auto place = parse_token(filter.page_token);
    first = place ? std::find_if(all.begin(), all.end(),
                                 [&](const Task& task) { return is_newer(*place, task); })
                  : all.end();
  }
  const auto left = static_cast<std::size_t>(all.end() - first);
  const auto count = std::min(left, filter.page_size);
  page.tasks.assign(first, first + static_cast<std::ptrdiff_t>(count));
  if (count < left) page.next_token = token_of(page.tasks.back());
  return page;
}

std::string page_text(const TaskPage& page, const ListFilter& filter) {
  std::string out;
  {
    JsonObject object{out};
    {
      JsonArray list{object.key("tasks")};
      for (const auto& task : page.tasks) list.next() += task_text(task, Dialect::v1);
    }
    object.add("nextPageToken", page.next_token)
        .add("pageSize", filter.page_size)
        .add("totalSize", page.total);
  }
  return out;
}

std::string card_text(std::string_view worker, std::string_view url, CardForm form) {
  const std::vector<std::string> input{"text/plain"}, output{"text/plain", "application/json"};
  const std::string begin{url};
  std::string out;
  {
    JsonObject card{out};
    card.add("name", worker)
        .add("description",
             "A worker in a sandbox: own files, own limits, no network but its "
             "allowed hosts.")
        .add("version", "1.0.0");
    if (form == CardForm::v1) {
      add_interfaces(card.key("supportedInterfaces"), begin);
    } else {
      card.add("protocolVersion", "0.3.0")
          .add("url", begin + std::string{rpc_path})
          .add("preferredTransport", "JSONRPC");
    }
    {
      JsonObject can{card.key("capabilities")};
      can.add("streaming", true).add("pushNotifications", false);
      if (form == CardForm::v1) can.add("extendedAgentCard", false);
    }
    if (form == CardForm::v1) {
      card.key("securitySchemes") += R"({"bearer":{"httpAuthSecurityScheme":{"scheme":"Bearer"}}})";
      card.key("securityRequirements") += R"([{"schemes":{"bearer":{"list":[]}}}])";
    } else {
      card.key("securitySchemes") += R"({"bearer":{"type":"http","scheme":"bearer"}})";
      card.key("security") += R"([{"bearer":[]}])";
      card.key("authentication") += R"({"schemes":["bearer"]})";
    }
    card.add("defaultInputModes", input).add("defaultOutputModes", output);
    add_skills(card.key("skills"));
  }
  return out;
}

std::string rpc_result(std::string_view result, std::string_view id) {
  std::string out;
  {
    JsonObject object{out};
    object.add("jsonrpc", "2.0").key("id") += id;
    object.key("result") += result;
  }
  return out;
}

}  // namespace stile::a2a
