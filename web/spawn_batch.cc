// SpawnBatch: one line for each worker.
#include "web/spawn_batch.h"

#include <array>

#include "base/contains.h"
#include "base/json.h"
#include "base/quoted.h"
#include "web/control_request.h"

namespace stile::web {
namespace {

using config::Node;

// Copies to the spawner's request: for one worker, else for all.
constexpr std::array<std::string_view, 3> plain_keys{"workspace", "template", "card"};

Result<void> check_keys(const Node& object, std::initializer_list<std::string_view> more) {
  const auto* table = object.as<Node::Table>();
  if (table == nullptr) return Error{"a worker is described by a JSON object"};
  for (const auto& member : *table) {
    const std::string_view key = member.key;
    const bool is_known = key == "tags" || contains(plain_keys, key) || contains(more, key);
    if (!is_known) return Error{"unknown key " + in_quotes(key)};
  }
  return {};
}

Result<void> add_tags(const Node& object, std::vector<std::string>& tags) {
  const auto* given = object.given("tags");
  if (given == nullptr) return {};
  const auto* list = given->as<Node::Array>();
  if (list == nullptr) return Error{"tags: expected a list of words"};
  for (const auto& one : *list) {
    const auto* word = one.as<std::string>();
    if (word == nullptr) return Error{"tags: expected a list of words"};
    if (!contains(tags, *word)) tags.push_back(*word);
  }
  return {};
}

Result<SpawnBatch::One> make_one(const Node& all, const Node& own, const std::string& batch,
                                 std::size_t number) {
  SpawnBatch::One one;
  one.id = own.text("task_id");
  if (one.id.empty()) one.id = batch + '-' + std::to_string(number);
  std::vector<std::string> tags;
  if (auto done = add_tags(all, tags); !done) return done.error();
  if (auto done = add_tags(own, tags); !done) return done.error();
  if (!contains(tags, batch)) tags.push_back(batch);
  {
    JsonObject object{one.line};
    object.add("action", "spawn").add("task_id", one.id);
    for (const auto key : plain_keys) {
      const auto* value = own.given(key);
      if (value == nullptr) value = all.given(key);
      if (value != nullptr) object.key(key) += config::json_text(*value);
    }
    object.add("tags", tags);
  }
  return one;
}

}  // namespace

Result<SpawnBatch> parse_batch(std::string_view body, std::string name) {
  const auto parsed = object_in(body);
  if (!parsed) return parsed.error();
  if (auto done = check_keys(*parsed, {"agents", "count", "batch"}); !done) return done.error();
  SpawnBatch batch;
  batch.name = std::move(name);
  if (const auto given = parsed->text("batch"); !given.empty()) batch.name = given;
  const auto* agents = parsed->get<Node::Array>("agents");
  if (parsed->given("agents") != nullptr && agents == nullptr) {
    return Error{"agents: expected a list of objects"};
  }
  const auto* count = parsed->given("count");
  if (agents != nullptr && count != nullptr) return Error{"either agents or count, not both"};
  const auto wanted = count == nullptr ? std::optional<std::int64_t>{1} : parsed->number("count");
  const auto size =
      agents != nullptr ? agents->size() : static_cast<std::size_t>(wanted.value_or(0));
  if (size == 0 || size > most_workers_at_once) {
    return Error{"a batch has 1 to " + std::to_string(most_workers_at_once) + " workers"};
  }
  const Node nothing{Node::Table{}, {}};
  for (std::size_t i = 0; i < size; ++i) {
    const Node& own = agents == nullptr ? nothing : (*agents)[i];
    if (auto done = check_keys(own, {"task_id"}); !done) return done.error();
    auto one = make_one(*parsed, own, batch.name, i + 1);
    if (!one) return one.error();
    batch.workers.push_back(std::move(*one));
  }
  return batch;
}

Result<std::optional<std::string>> parse_stop(std::string_view body) {
  const auto parsed = object_in(body.empty() ? "{}" : body);
  if (!parsed) return parsed.error();
  std::optional<std::string> tag;
  for (const auto& member : *parsed->as<Node::Table>()) {
    if (member.key != "tag") return Error{"unknown key " + in_quotes(member.key)};
    const auto* word = member.value.as<std::string>();
    if (word == nullptr || word->empty()) return Error{"tag: expected a word"};
    tag = *word;
  }
  return tag;
}

}  // namespace stile::web
