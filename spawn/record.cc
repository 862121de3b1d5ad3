// WorkerRecord: what the spawner knows about one worker.
#include "spawn/record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "base/ascii.h"
#include "base/files.h"
#include "base/json.h"
#include "base/system_error.h"
#include "base/unique_fd.h"
#include "config/fields.h"
#include "config/json_loader.h"
#include "config/launch.h"
#include "spawn/request.h"

namespace stile::spawn {
namespace {

constexpr mode_t private_mode = 0700;

UniqueFd open_directory(const std::string& path) {
  return UniqueFd{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
}

using config::field, config::read_number;

// Others are ignored: a newer spawner may have written them.
constexpr std::array record_fields{
    field<&WorkerRecord::id, config::Text::read>("task_id"),
    field<&WorkerRecord::instance, config::Text::read>("instance"),
    field<&WorkerRecord::workspace, config::Text::read>("workspace"),
    field<&WorkerRecord::template_name, config::Text::read>("template"),
    field<&WorkerRecord::token_hash, config::Text::read>("token_hash"),
    field<&WorkerRecord::started, read_number<INT64_MAX>>("started"),
    field<&WorkerRecord::ttl_seconds, read_number<INT64_MAX>>("ttl_seconds"),
    field<&WorkerRecord::caller, read_number<INT64_MAX>>("caller"),
    field<&WorkerRecord::tags, config::read_texts>("tags"),
};

}  // namespace

std::string record_text(const WorkerRecord& record) {
  std::string out;
  JsonObject{out}
      .add("task_id", record.id)
      .add("instance", record.instance)
      .add("workspace", record.workspace)
      .add("template", record.template_name)
      .add("tags", record.tags)
      .add("token_hash", record.token_hash)
      .add("started", record.started)
      .add("ttl_seconds", record.ttl_seconds)
      .add("caller", record.caller);
  return out;
}

std::optional<WorkerRecord> parse_record(std::string_view text) {
  const auto document = config::parse_json(text, "record");
  const auto* table = document ? document->as<config::Node::Table>() : nullptr;
  if (table == nullptr) return std::nullopt;
  config::Diagnostics problems;
  const config::Reader reader{problems, "record", std::nullopt, {}};
  WorkerRecord record;
  for (const auto& member : *table) {
    static_cast<void>(config::read_field(record_fields, member, reader, record));
  }
  if (problems.has_errors() || !is_plain_id(record.id) || record.instance.empty()) {
    return std::nullopt;
  }
  return record;
}

Result<WorkerRecords> WorkerRecords::open(const std::string& path) {
  if (::mkdir(path.c_str(), private_mode) != 0 && errno != EEXIST) return system_error(path);
  struct stat status {};
  const auto directory = open_directory(path);
  if (!directory || ::fstat(directory.get(), &status) != 0) return system_error(path);
  if (status.st_uid != ::geteuid() || (status.st_mode & 077U) != 0) {
    return Error{path + ": must belong to the spawner alone (mode 0700)"};
  }
  return WorkerRecords{path};
}

std::string WorkerRecords::path_of(const std::string& id, const char* file) const {
  return path_ + '/' + id + '/' + file;
}

Result<void> WorkerRecords::write(const WorkerRecord& record, const Files& files) const {
  const auto path = path_ + '/' + record.id;
  if (::mkdir(path.c_str(), private_mode) != 0 && errno != EEXIST) return system_error(path);
  const auto directory = open_directory(path);
  if (!directory) return system_error(path);
  if (auto done = replace_file(directory.get(), card_file, files.card); !done) return done;
  if (auto done = replace_file(directory.get(), worker_file, files.worker_file); !done) {
    return done;
  }
  // The last one: a worker whose record is missing was never started.
  return replace_file(directory.get(), record_file, record_text(record));
}

void WorkerRecords::remove(const std::string& id) const {
  for (const char* file : {socket_file, worker_file, card_file, record_file}) {
    ::unlink(path_of(id, file).c_str());
  }
  ::rmdir((path_ + '/' + id).c_str());
}

std::vector<WorkerRecord> WorkerRecords::all() const {
  std::vector<WorkerRecord> records;
  const auto directory = open_directory(path_);
  const auto names = directory ? names_in(directory.get()) : Result<std::vector<std::string>>{};
  if (!names) return records;
  for (const auto& name : *names) {
    const auto text = read_file(AT_FDCWD, path_of(name, record_file));
    const auto record = text && *text ? parse_record(**text) : std::nullopt;
    if (record && record->id == name) {
      records.push_back(*record);
    } else if (is_plain_id(name)) {
      remove(name);
    }
  }
  return records;
}

}  // namespace stile::spawn
