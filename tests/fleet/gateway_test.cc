// Gateway: requests as etcd reads them, and answers of a store that is not trusted.
#include "fleet/gateway.h"

#include <gtest/gtest.h>

#include <string>

namespace stile::fleet {
namespace {

// As etcd 3.4 sends it.
const std::string range_answer =
    R"({"header":{"cluster_id":"1","member_id":"2","revision":"9","raft_term":"2"},"kvs":[{"key":"L3M=",)"
    R"("create_revision":"2","mod_revision":"7","version":"1","value":"b25l"}],"more":true,"count":"2"})";
const std::string watched_line =
    R"({"result":{"header":{"revision":"5"},"watch_id":"1","events":[{"kv":{"key":"L3M=","mod_revision":"5",)"
    R"("value":"dHdv"}},{"type":"DELETE","kv":{"key":"L3M=","mod_revision":"5"}}]}})";

TEST(Gateway, WritesRequests) {
  EXPECT_EQ(range_request(range_below("/s/"), {5, 8, false}),
            R"({"key":"L3Mv","range_end":"L3Mw","limit":"8","revision":"5"})");
  EXPECT_EQ(put_request("/s", "one", 4), R"({"key":"L3M=","value":"b25l","lease":"4"})");
  EXPECT_EQ(swap_request("/s", "one", 0),
            R"({"compare":[{"key":"L3M=","target":"MOD","result":"EQUAL","mod_revision":"0"}],)"
            R"("success":[{"request_put":{"key":"L3M=","value":"b25l"}}]})");
  EXPECT_EQ(watch_request({{"/s", ""}, range_below("/t/")}, 3),
            R"({"create_request":{"key":"L3M=","start_revision":"3"}})"
            R"({"create_request":{"key":"L3Qv","range_end":"L3Qw","start_revision":"3"}})");
}

TEST(Gateway, ReadsARange) {
  const auto answer = parse_range(range_answer);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->revision, 9);
  EXPECT_TRUE(answer->has_more);
  ASSERT_EQ(answer->pairs.size(), 1U);
  EXPECT_EQ(answer->pairs[0].key, "/s");
  EXPECT_EQ(answer->pairs[0].value, "one");
  EXPECT_EQ(answer->pairs[0].mod_revision, 7);
  EXPECT_TRUE(parse_range(R"({"header":{"revision":"3"}})")->pairs.empty());
}

TEST(Gateway, ReadsChangesAndLeavesOutDeletions) {
  const auto watched = parse_watched(watched_line);
  ASSERT_TRUE(watched);
  ASSERT_EQ(watched->pairs.size(), 1U);
  EXPECT_EQ(watched->pairs[0].value, "two");
  EXPECT_FALSE(watched->is_cancelled);
  EXPECT_TRUE(parse_watched(R"({"result":{"header":{},"canceled":true,"compact_revision":"3"}})")
                  ->is_cancelled);
}

TEST(Gateway, ReadsLeasesTransactionsAndTokens) {
  EXPECT_EQ(*parse_lease(R"({"header":{},"ID":"7587898984234903560","TTL":"15"})"),
            7587898984234903560);
  EXPECT_TRUE(*parse_kept_lease(R"({"result":{"header":{},"ID":"1","TTL":"15"}})"));
  EXPECT_FALSE(*parse_kept_lease(R"({"result":{"header":{},"ID":"1"}})"));
  EXPECT_TRUE(*parse_transaction(R"({"header":{},"succeeded":true})"));
  EXPECT_FALSE(*parse_transaction(R"({"header":{}})"));
  EXPECT_EQ(*parse_token(R"({"header":{},"token":"abc.1"})"), "abc.1");
}

TEST(Gateway, RefusesStrangeAnswers) {
  for (const auto* text :
       {"", "null", "[]", "{}", "\xff", R"({"header":{"revision":"x"}})",
        R"({"header":{"revision":"-1"}})", R"({"header":{"revision":"9"},"kvs":{}})",
        R"({"header":{"revision":"9"},"kvs":[{"key":"*"}]})",
        R"({"header":{"revision":"9"},"kvs":[{"value":"b25l"}]})",
        R"({"header":{"revision":"9"},"kvs":[[]]})",
        R"({"header":{"revision":"99999999999999999999"}})"}) {
    EXPECT_FALSE(parse_range(text)) << text;
  }
  for (const auto* text :
       {"", "{}", R"({"error":{}})", R"({"result":{"header":{"revision":[]}}})",
        R"({"result":{"header":{},"events":1}})", R"({"result":{"header":{},"events":[1]}})"}) {
    EXPECT_FALSE(parse_watched(text)) << text;
  }
  EXPECT_FALSE(parse_lease(R"({"ID":"0"})"));
  EXPECT_FALSE(parse_lease("{}"));
  EXPECT_FALSE(parse_kept_lease("{}"));
  EXPECT_FALSE(parse_token(R"({"token":"a\r\nX: y"})"));
  EXPECT_FALSE(parse_token(R"({"token":""})"));
  EXPECT_FALSE(parse_range(std::string(max_answer_bytes + 1, '1')));
}

TEST(Gateway, RefusesEveryCut) {
  for (std::size_t size = 0; size < range_answer.size(); ++size) {
    EXPECT_FALSE(parse_range(range_answer.substr(0, size))) << size;
  }
  for (std::size_t size = 0; size < watched_line.size(); ++size) {
    EXPECT_FALSE(parse_watched(watched_line.substr(0, size))) << size;
  }
}

TEST(Gateway, ErrorsAreOnePrintableLine) {
  EXPECT_EQ(error_of(503, R"({"error":"etcdserver: no leader","code":14})"),
            "etcdserver: no leader");
  EXPECT_EQ(error_of(404, "<html>"), "status 404");
  EXPECT_EQ(error_of(500, R"({"message":"a\u001b[2Jb"})").find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace stile::fleet
