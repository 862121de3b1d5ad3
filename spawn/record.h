// WorkerRecord: what the spawner knows about one worker. It is kept in a file, so that a restart of
// the spawner loses no worker.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unix_time.h"

namespace stile::spawn {

struct WorkerRecord {
  std::string id, instance, workspace, template_name;
  std::vector<std::string> tags;
  std::string token_hash;
  UnixMicros started = 0;
  std::int64_t ttl_seconds = 0;
  std::uint32_t caller = 0;  // user id
};

// As JSON, and back; nullopt: it is none. Pure.
[[nodiscard]] std::string record_text(const WorkerRecord& record);
[[nodiscard]] std::optional<WorkerRecord> parse_record(std::string_view text);

// The directory of all workers, which only root can enter: one directory per worker.
class WorkerRecords {
 public:
  // Creates the directory if it is missing.
  static Result<WorkerRecords> open(const std::string& path);

  [[nodiscard]] std::string path_of(const std::string& id, const char* file) const;
  // Files of the worker, made before its unit is started.
  struct Files {
    std::string card, worker_file;
  };
  [[nodiscard]] Result<void> write(const WorkerRecord& record, const Files& files) const;
  void remove(const std::string& id) const;
  // Those that can be read. A directory without a record is removed.
  [[nodiscard]] std::vector<WorkerRecord> all() const;

 private:
  explicit WorkerRecords(std::string path) : path_{std::move(path)} {}
  std::string path_;
};

inline constexpr const char* card_file = "card.json";
inline constexpr const char* worker_file = "worker.json";
inline constexpr const char* record_file = "record.json";
inline constexpr const char* socket_file = "tasks.sock";

}  // namespace stile::spawn
