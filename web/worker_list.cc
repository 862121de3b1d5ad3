// worker_list: one `list`, then one `status` for each worker.
#include "web/worker_list.h"

#include <memory>
#include <utility>

#include "base/json.h"
#include "config/json_loader.h"

namespace stile::web {
namespace {

constexpr std::size_t most_workers = 200;
constexpr std::string_view nobody = R"({"connected":false,"workers":[]})";

struct Gathering : std::enable_shared_from_this<Gathering> {
  ControlLink& spawner;
  std::function<void(std::string)> done;
  std::vector<std::string> ids{};
  std::string rows{};
  std::size_t next = 0;

  Gathering(ControlLink& link, std::function<void(std::string)> then)
      : spawner{link}, done{std::move(then)} {}

  void ask() {
    if (next == ids.size()) return done(R"({"connected":true,"workers":[)" + rows + "]}");
    std::string line;
    JsonObject{line}.add("action", "status").add("task_id", ids[next++]);
    spawner.ask(std::move(line),
                [self = shared_from_this()](const std::optional<std::string>& answer) {
                  // A worker may have ended since it was listed.
                  if (answer && answer->starts_with(R"({"task_id":)")) {
                    if (!self->rows.empty()) self->rows += ',';
                    self->rows += *answer;
                  }
                  self->ask();
                });
  }
};

}  // namespace

std::vector<std::string> worker_ids(std::string_view answer, std::size_t most) {
  std::vector<std::string> ids;
  const auto parsed = config::json_or_null(answer);
  for (const auto& one : parsed.list("workers")) {
    auto id = one.text("task_id");
    if (!id.empty() && ids.size() < most) ids.push_back(std::move(id));
  }
  return ids;
}

void list_workers(ControlLink& spawner, std::function<void(std::string)> done) {
  auto work = std::make_shared<Gathering>(spawner, std::move(done));
  spawner.ask(R"({"action":"list"})", [work](const std::optional<std::string>& answer) {
    if (!answer || !answer->starts_with(R"({"workers":[)")) return work->done(std::string{nobody});
    work->ids = worker_ids(*answer, most_workers);
    work->ask();
  });
}

}  // namespace stile::web
