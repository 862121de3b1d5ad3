// WorkerFile: written by stile-spawner, read by `stile-netns worker`.
#include "worker/file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/json.h"
#include "base/quoted.h"
#include "config/fields.h"
#include "config/json_loader.h"

namespace stile::worker {
namespace {

using config::field, config::read_number;

constexpr std::array<std::string_view, 3> access_names{"write", "read", "none"};

std::optional<config::WorkspaceAccess> read_access(const config::Node& node,
                                                   const config::Reader& reader) {
  const auto text = config::Text::read(node, reader);
  const auto* const found = std::find(access_names.begin(), access_names.end(), text.value_or(""));
  if (found == access_names.end()) return reader.error(node, "write, read or none");
  return static_cast<config::WorkspaceAccess>(found - access_names.begin());
}

constexpr std::array file_fields{
    field<&WorkerFile::id, config::AgentId::read>("id"),
    field<&WorkerFile::instance, config::Text::read>("instance"),
    field<&WorkerFile::workspace, config::Text::read>("workspace"),
    field<&WorkerFile::workspace_access, read_access>("workspace_access"),
    field<&WorkerFile::socket, config::Text::read>("socket"),
    field<&WorkerFile::caller, read_number<UINT32_MAX>>("caller"),
    field<&WorkerFile::max_tasks, read_number<UINT32_MAX>>("max_tasks"),
    field<&WorkerFile::disk_mb, read_number<UINT32_MAX>>("disk_mb"),
    field<&WorkerFile::max_processes, read_number<UINT32_MAX>>("max_processes"),
    field<&WorkerFile::command, config::read_texts>("command"),
    field<&WorkerFile::task, config::read_texts>("task"),
    field<&WorkerFile::read, config::read_texts>("read"),
    field<&WorkerFile::write, config::read_texts>("write"),
    field<&WorkerFile::environment, config::read_variables>("environment"),
};

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
  config::Reader reader{problems, name, std::nullopt, {}};
  if (const auto* table = document->as<config::Node::Table>()) {
    for (const auto& member : *table) {
      reader.key = printable(member.key.substr(0, 64));
      if (!config::read_field(file_fields, member, reader, file)) {
        reader.error(member.value, "unknown key");
      }
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
