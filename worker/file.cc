// WorkerFile: written by stile-spawner, read by `stile-netns worker`.
#include "worker/file.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/json.h"
#include "base/quoted.h"
#include "config/json_loader.h"
#include "config/values.h"

namespace stile::worker {
namespace {

using config::Member;
using config::Reader;

void read_text(const Member& member, const Reader& reader, std::string& to) {
  if (auto text = config::Text::read(member.value, reader)) to = std::move(*text);
}

void read_list(const Member& member, const Reader& reader, std::vector<std::string>& to) {
  if (auto texts = config::read_texts(member.value, reader)) to = std::move(*texts);
}

template <class Number>
void read_number(const Member& member, const Reader& reader, Number& to) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  if (const auto number = config::read_integer(member.value, reader, 0, most)) {
    to = static_cast<Number>(*number);
  }
}

constexpr std::array<std::string_view, 3> access_names{"write", "read", "none"};

void read_access(const Member& member, const Reader& reader, WorkerFile& file) {
  const auto text = config::Text::read(member.value, reader);
  const auto* const found = std::find(access_names.begin(), access_names.end(), text.value_or(""));
  if (found == access_names.end()) {
    reader.error(member.value, "write, read or none");
  } else {
    file.workspace_access = static_cast<config::WorkspaceAccess>(found - access_names.begin());
  }
}

void read_member(const Member& member, const Reader& reader, WorkerFile& file) {
  const auto& key = member.key;
  if (key == "id") {
    if (auto id = config::AgentId::read(member.value, reader)) file.id = std::move(*id);
  } else if (key == "instance") {
    read_text(member, reader, file.instance);
  } else if (key == "workspace") {
    read_text(member, reader, file.workspace);
  } else if (key == "workspace_access") {
    read_access(member, reader, file);
  } else if (key == "socket") {
    read_text(member, reader, file.socket);
  } else if (key == "caller") {
    read_number(member, reader, file.caller);
  } else if (key == "max_tasks") {
    read_number(member, reader, file.max_tasks);
  } else if (key == "disk_mb") {
    read_number(member, reader, file.disk_mb);
  } else if (key == "max_processes") {
    read_number(member, reader, file.max_processes);
  } else if (key == "command") {
    read_list(member, reader, file.command);
  } else if (key == "task") {
    read_list(member, reader, file.task);
  } else if (key == "read") {
    read_list(member, reader, file.read);
  } else if (key == "write") {
    read_list(member, reader, file.write);
  } else if (key == "environment") {
    if (auto variables = config::read_variables(member.value, reader)) {
      file.environment = std::move(*variables);
    }
  } else {
    reader.error(member.value, "unknown key");
  }
}

}  // namespace

std::string worker_file_text(const WorkerFile& file) {
  std::string out;
  {
    JsonObject object{out};
    object.add("id", file.id)
        .add("instance", file.instance)
        .add("workspace", file.workspace)
        .add("workspace_access", access_names[static_cast<std::size_t>(file.workspace_access)])
        .add("socket", file.socket)
        .add("caller", file.caller)
        .add("max_tasks", file.max_tasks)
        .add("disk_mb", file.disk_mb)
        .add("max_processes", file.max_processes)
        .add("command", file.command)
        .add("task", file.task)
        .add("read", file.read)
        .add("write", file.write);
    JsonObject variables{object.key("environment")};
    for (const auto& variable : file.environment) variables.add(variable.name, variable.value);
  }
  return out;
}

config::Checked<WorkerFile> parse_worker_file(std::string_view text, const std::string& name) {
  const auto document = config::parse_json(text, name);
  if (!document) return document.error();
  config::Diagnostics problems;
  WorkerFile file;
  Reader reader{problems, name, std::nullopt, {}};
  if (const auto* table = document->as<config::Node::Table>()) {
    for (const auto& member : *table) {
      reader.key = printable(member.key.substr(0, 64));
      read_member(member, reader, file);
    }
  }
  reader.key.clear();
  if (file.id.empty()) reader.error(*document, "has no id");
  if (!file.workspace.starts_with('/')) reader.error(*document, "has no workspace");
  if (!file.socket.starts_with('/')) reader.error(*document, "has no socket");
  if (problems.has_errors()) return problems;
  return file;
}

}  // namespace stile::worker
