// Texts: tasks, events, pages and cards in the words of each version.
#include "a2a/text.h"

#include <gtest/gtest.h>

#include "config/json_loader.h"

namespace stile::a2a {
namespace {

using config::Node;

Task some_task() {
  Task task;
  task.id = "5-1";
  task.context = "alpha";
  task.time = 1'700'000'000'000'000;
  return task;
}

TEST(A2aText, WritesATaskOfEachVersion) {
  auto task = some_task();
  EXPECT_EQ(task_text(task, Dialect::v1),
            R"({"id":"5-1","contextId":"alpha","status":{"state":"TASK_STATE_WORKING",)"
            R"("timestamp":"2023-11-14T22:13:20Z"}})");
  EXPECT_EQ(task_text(task, Dialect::v03),
            R"({"kind":"task","id":"5-1","contextId":"alpha","status":{"state":"working",)"
            R"("timestamp":"2023-11-14T22:13:20Z"}})");
  task.output = TaskOutput{"two\nlines", 5};
  task.state = State::auth_required;
  task.explanation = "waits";
  EXPECT_EQ(task_text(task, Dialect::v1),
            R"({"id":"5-1","contextId":"alpha","status":{"state":"TASK_STATE_AUTH_REQUIRED",)"
            R"("timestamp":"2023-11-14T22:13:20Z","message":{"messageId":"5-1-status",)"
            R"("role":"ROLE_AGENT","taskId":"5-1","contextId":"alpha","parts":[{"text":"waits",)"
            R"("mediaType":"text/plain"}]}},"artifacts":[{"artifactId":"output","name":"output",)"
            R"("parts":[{"text":"two\u000alines","mediaType":"text/plain"}],)"
            R"("metadata":{"missedBytes":5}}]})");
  EXPECT_EQ(sent_text(some_task(), Dialect::v1),
            R"({"task":)" + task_text(some_task(), Dialect::v1) + '}');
  EXPECT_EQ(sent_text(some_task(), Dialect::v03), task_text(some_task(), Dialect::v03));
}

TEST(A2aText, HasNoArtifactWithoutAPart) {
  auto task = some_task();
  task.output = TaskOutput{};
  EXPECT_NE(task_text(task, Dialect::v1).find(R"("artifacts":[])"), std::string::npos);
}

TEST(A2aText, NamesTheFilesThatATaskChanged) {
  auto task = some_task();
  task.state = State::completed;
  task.output = TaskOutput{"", 0, {{"d/new", 3, 1'700'000'000}}, true};
  const std::string data =
      R"("data":{"files":[{"name":"d/new","size":3,"modifiedAt":"2023-11-14T22:13:20Z"}],)"
      R"("truncated":true})";
  EXPECT_NE(task_text(task, Dialect::v1)
                .find(R"("artifacts":[{"artifactId":"files","name":"files","parts":[{)" + data +
                      R"(,"mediaType":"application/json"}]}])"),
            std::string::npos);
  EXPECT_NE(task_text(task, Dialect::v03).find(R"([{"kind":"data",)" + data), std::string::npos);
  EXPECT_EQ(files_event(task, *task.output, Dialect::v03),
            R"({"kind":"artifact-update","taskId":"5-1","contextId":"alpha","artifact":)"
            R"({"artifactId":"files","name":"files","parts":[{"kind":"data",)" +
                data + R"(}]},"append":false,"lastChunk":true})");
  EXPECT_EQ(status_event(task, Dialect::plain),
            R"({"id":"5-1","status":"completed","artifacts":[{"name":"d/new"}]})");
}

TEST(A2aText, WritesEventsOfEachVersion) {
  auto task = some_task();
  task.state = State::completed;
  EXPECT_EQ(status_event(task, Dialect::v1),
            R"({"statusUpdate":{"taskId":"5-1","contextId":"alpha","status":)"
            R"({"state":"TASK_STATE_COMPLETED","timestamp":"2023-11-14T22:13:20Z"}}})");
  EXPECT_EQ(status_event(task, Dialect::v03),
            R"({"kind":"status-update","taskId":"5-1","contextId":"alpha","status":)"
            R"({"state":"completed","timestamp":"2023-11-14T22:13:20Z"},"final":true})");
  EXPECT_EQ(status_event(task, Dialect::plain), R"({"id":"5-1","status":"completed"})");
  EXPECT_EQ(
      output_event(task, {"x", 0}, true, Dialect::v1),
      R"({"artifactUpdate":{"taskId":"5-1","contextId":"alpha","artifact":)"
      R"({"artifactId":"output","name":"output","parts":[{"text":"x","mediaType":"text/plain"}]},)"
      R"("append":false,"lastChunk":false}})");
  EXPECT_EQ(output_event(task, {"x", 0}, false, Dialect::v03),
            R"({"kind":"artifact-update","taskId":"5-1","contextId":"alpha","artifact":)"
            R"({"artifactId":"output","name":"output","parts":[{"kind":"text","text":"x"}]},)"
            R"("append":true,"lastChunk":false})");
  EXPECT_EQ(output_event(task, {"x", 0}, false, Dialect::plain),
            R"({"role":"assistant","parts":[{"text":"x"}]})");
}

std::vector<Task> some_tasks(int count) {
  std::vector<Task> tasks;
  for (int i = 1; i <= count; ++i) {
    auto task = some_task();
    task.id = "5-" + std::to_string(i);
    task.time = (i / 2) * 1'000'000;  // two tasks in one second
    task.state = i == count ? State::working : State::completed;
    tasks.push_back(task);
  }
  return tasks;
}

TEST(A2aList, ShowsEachTaskOnceOverAllPages) {
  ListFilter filter;
  filter.page_size = 3;
  std::vector<std::string> ids;
  do {
    const auto page = select(some_tasks(11), filter);
    EXPECT_EQ(page.total, 11U);
    EXPECT_LE(page.tasks.size(), 3U);
    for (const auto& task : page.tasks) ids.push_back(task.id);
    filter.page_token = page.next_token;
  } while (!filter.page_token.empty());
  EXPECT_EQ(ids, (std::vector<std::string>{"5-11", "5-10", "5-9", "5-8", "5-7", "5-6", "5-5", "5-4",
                                           "5-3", "5-2", "5-1"}));
}

TEST(A2aList, FiltersByContextStateAndTime) {
  ListFilter filter;
  filter.state = State::working;
  EXPECT_EQ(select(some_tasks(4), filter).tasks.size(), 1U);
  filter = {};
  filter.context = "other";
  EXPECT_EQ(select(some_tasks(4), filter).total, 0U);
  filter = {};
  filter.after = 1'000'000;
  EXPECT_EQ(select(some_tasks(4), filter).total, 3U);
  for (const auto* token : {"x", ".", "1", "99999999999999999999.x", "1x.5-1"}) {
    filter = {};
    filter.page_token = token;
    EXPECT_TRUE(select(some_tasks(4), filter).tasks.empty()) << token;
  }
}

TEST(A2aList, AlwaysHasATokenAndNoArtifactsUnlessAsked) {
  ListFilter filter;
  const auto text = page_text(select(some_tasks(1), filter), filter);
  EXPECT_NE(text.find(R"("nextPageToken":"","pageSize":50,"totalSize":1)"), std::string::npos);
  EXPECT_EQ(text.find("artifacts"), std::string::npos);
}

// The members that specification/a2a.proto marks as REQUIRED.
TEST(A2aCard, HasEveryRequiredMember) {
  const auto card = config::parse_json(
      card_text("alpha", "http://127.0.0.1:9129/agents/alpha", CardForm::v1), "");
  ASSERT_TRUE(card);
  for (const auto* key : {"name", "description", "version"}) EXPECT_NE(card->text(key), "") << key;
  for (const auto* key :
       {"supportedInterfaces", "defaultInputModes", "defaultOutputModes", "skills"}) {
    const auto* list = card->get<Node::Array>(key);
    ASSERT_NE(list, nullptr) << key;
    EXPECT_FALSE(list->empty()) << key;
  }
  for (const auto& one : *card->get<Node::Array>("supportedInterfaces")) {
    for (const auto* key : {"url", "protocolBinding", "protocolVersion"}) {
      EXPECT_NE(one.text(key), "") << key;
    }
  }
  for (const auto& one : *card->get<Node::Array>("skills")) {
    for (const auto* key : {"id", "name", "description"}) EXPECT_NE(one.text(key), "") << key;
    EXPECT_NE(one.get<Node::Array>("tags"), nullptr);
  }
  const auto& can = card->at("capabilities");
  EXPECT_TRUE(*can.get<bool>("streaming"));
  EXPECT_FALSE(*can.get<bool>("pushNotifications"));
}

TEST(A2aCard, SaysTheSameInTheWordsOf03) {
  const auto text = card_text("alpha", "http://h/agents/alpha", CardForm::v03);
  EXPECT_NE(text.find(R"("protocolVersion":"0.3.0","url":"http://h/agents/alpha/rpc")"),
            std::string::npos);
  EXPECT_NE(text.find(R"("security":[{"bearer":[]}])"), std::string::npos);
  EXPECT_EQ(text.find("supportedInterfaces"), std::string::npos);
}

}  // namespace
}  // namespace stile::a2a
