// WorkersExchange: workers one after the other, so that one failure is told for one worker.
#include "web/workers_exchange.h"

#include <algorithm>
#include <utility>

#include "a2a/task.h"
#include "base/json.h"
#include "base/random.h"
#include "config/json_loader.h"
#include "web/control_request.h"
#include "web/worker_list.h"

namespace stile::web {
namespace {

using namespace std::chrono_literals;
using config::Node;

constexpr auto retry_time = 500ms;
constexpr auto longest_cooldown = 60s;
constexpr std::size_t most_stopped = 1000;

// The workers that have the tag; nullopt: all.
std::vector<std::string> ids_with_tag(std::string_view answer,
                                      const std::optional<std::string>& tag) {
  if (!tag) return worker_ids(answer, most_stopped);
  std::vector<std::string> ids;
  const auto parsed = config::json_or_null(answer);
  for (const auto& one : parsed.list("workers")) {
    const auto& tags = one.list("tags");
    const bool has_tag = std::any_of(tags.begin(), tags.end(), [&](const Node& word) {
      const auto* text = word.as<std::string>();
      return text != nullptr && *text == *tag;
    });
    if (has_tag && ids.size() < most_stopped) ids.push_back(one.text("task_id"));
  }
  return ids;
}

}  // namespace

void WorkersExchange::fail(unsigned status, std::string_view code, std::string_view message) {
  client_->answer(error_answer(status, code, message));
}

void WorkersExchange::start(std::string_view action, const std::string& worker,
                            const std::string& body) {
  if (action == "status") return show_state();
  if (spawner_ == nullptr)
    return fail(502, "no-spawner", "stile-web was started without a spawner");
  if (action == "active") {
    return list_workers(*spawner_, [self = shared_from_this()](const std::string& text) {
      self->client_->answer({200, json_type, R"({"ok":true,)" + text.substr(1)});
    });
  }
  if (action == "one") return pass_on("status", worker);
  if (action == "stop") return pass_on("terminate", worker);
  if (action == "stop-all") {
    const auto tag = parse_stop(body);
    if (!tag) return fail(400, "bad-request", tag.error().message);
    return begin_stop_all(*tag);
  }
  auto batch = parse_batch(body, "batch-" + random_hex(4));
  if (!batch) return fail(400, "bad-request", batch.error().message);
  batch_ = std::move(*batch);
  spawn_next();
}

void WorkersExchange::show_state() {
  const auto answer = [self = shared_from_this()](bool is_connected, std::size_t count) {
    std::string out;
    JsonObject{out}.add("ok", true).add("connected", is_connected).add("workers", count);
    self->client_->answer({200, json_type, std::move(out)});
  };
  if (spawner_ == nullptr) return answer(false, 0);
  spawner_->ask(R"({"action":"list"})", [answer](const std::optional<std::string>& list) {
    const bool is_connected = list && list->starts_with(R"({"workers":)");
    answer(is_connected, is_connected ? worker_ids(*list, most_stopped).size() : 0);
  });
}

void WorkersExchange::pass_on(std::string_view action, const std::string& worker) {
  spawner_->ask(worker_line(action, worker),
                [self = shared_from_this()](const std::optional<std::string>& answer) {
                  if (!answer) return self->fail(502, "no-spawner", "the spawner does not answer");
                  if (const auto error = a2a::error_of(*answer))
                    return self->fail(404, "refused", *error);
                  self->client_->answer({200, json_type, R"({"ok":true,)" + answer->substr(1)});
                });
}

void WorkersExchange::note(const std::string& id, const std::string& answer) {
  if (!rows_.empty()) rows_ += ',';
  if (!a2a::error_of(answer)) {
    rows_ += answer;
    return;
  }
  has_failed_ = true;
  JsonObject{rows_}.add("task_id", id).add("error", *a2a::error_of(answer));
}

void WorkersExchange::finish() {
  std::string out;
  {
    JsonObject object{out};
    object.add("ok", !has_failed_);
    if (!batch_.name.empty()) object.add("batch", batch_.name);
    object.key("agents").append("[").append(rows_).append("]");
  }
  client_->answer({200, json_type, std::move(out)});
}

void WorkersExchange::spawn_next() {
  if (next_ == batch_.workers.size()) return finish();
  deadline_ = Clock::now() + longest_cooldown;
  try_spawn();
}

void WorkersExchange::try_spawn() {
  const auto& one = batch_.workers[next_];
  spawner_->ask(one.line, [self = shared_from_this()](const std::optional<std::string>& answer) {
    const auto& worker = self->batch_.workers[self->next_];
    const auto text = answer.value_or(R"({"error":"the spawner does not answer"})");
    const auto error = a2a::error_of(text);
    // The spawner limits the rate of spawns. A batch waits for it.
    if (error && error->find("cooldown") != std::string::npos && Clock::now() < self->deadline_) {
      self->timer_.expires_after(retry_time);
      self->timer_.async_wait([self](const boost::system::error_code& ec) {
        if (!ec) self->try_spawn();
      });
      return;
    }
    self->note(worker.id, text);
    ++self->next_;
    self->spawn_next();
  });
}

void WorkersExchange::begin_stop_all(const std::optional<std::string>& tag) {
  spawner_->ask(R"({"action":"list"})",
                [self = shared_from_this(), tag](const std::optional<std::string>& answer) {
                  if (!answer) return self->fail(502, "no-spawner", "the spawner does not answer");
                  self->ids_ = ids_with_tag(*answer, tag);
                  self->stop_next();
                });
}

void WorkersExchange::stop_next() {
  if (next_ == ids_.size()) return finish();
  spawner_->ask(worker_line("terminate", ids_[next_]),
                [self = shared_from_this()](const std::optional<std::string>& answer) {
                  self->note(self->ids_[self->next_++],
                             answer.value_or(R"({"error":"the spawner does not answer"})"));
                  self->stop_next();
                });
}

}  // namespace stile::web
