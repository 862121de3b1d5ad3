// answers: what the spawner says, as JSON on one line. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spawn/files.h"
#include "spawn/record.h"

namespace stile::spawn {

[[nodiscard]] std::string error_answer(std::string_view message);
[[nodiscard]] std::string spawned_answer(const WorkerRecord& record, const std::string& token);
[[nodiscard]] std::string terminated_answer(const std::string& id);
[[nodiscard]] std::string token_answer(bool is_known, bool is_valid);

// A worker in a list.
struct ListedWorker {
  const WorkerRecord* record = nullptr;
  std::string_view state;  // "starting", "running", "ending"
};
[[nodiscard]] std::string list_answer(const std::vector<ListedWorker>& workers);

// What systemd says about a worker's unit.
struct UnitState {
  std::optional<std::uint64_t> memory_bytes, processes, cpu_nanoseconds;
};
// `runs`: a JSON array of the worker's tasks; "": the worker did not answer.
[[nodiscard]] std::string status_answer(const ListedWorker& worker, const UnitState& unit,
                                        const std::string& runs);
[[nodiscard]] std::string files_answer(const std::string& id, const std::string& path,
                                       const Listing& listing);
[[nodiscard]] std::string content_answer(const std::string& id, const std::string& path,
                                         const FileContent& content);

}  // namespace stile::spawn
