// text: tasks, events and cards as JSON, in the words of the caller's version. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "a2a/request.h"
#include "a2a/task.h"

namespace stile::a2a {

[[nodiscard]] std::string task_text(const Task& task, Dialect dialect);

// The result of `send`.
[[nodiscard]] std::string sent_text(const Task& task, Dialect dialect);

// Events of a stream.
[[nodiscard]] std::string task_event(const Task& task, Dialect dialect);
[[nodiscard]] std::string status_event(const Task& task, Dialect dialect);
// `is_first`: nothing of the output was sent before.
[[nodiscard]] std::string output_event(const Task& task, const TaskOutput& output, bool is_first,
                                       Dialect dialect);
// The files that an ended task has changed.
[[nodiscard]] std::string files_event(const Task& task, const TaskOutput& output, Dialect dialect);

// One page of the tasks, newest first.
struct TaskPage {
  std::vector<Task> tasks;
  std::string next_token;
  std::size_t total = 0;
};
[[nodiscard]] TaskPage select(std::vector<Task> all, const ListFilter& filter);
[[nodiscard]] std::string page_text(const TaskPage& page, const ListFilter& filter);

// `url`: where the worker's routes begin. Everybody may read a card, so it says nothing more.
[[nodiscard]] std::string card_text(std::string_view worker, std::string_view url, CardForm form);

[[nodiscard]] std::string rpc_result(std::string_view result, std::string_view id);

}  // namespace stile::a2a
