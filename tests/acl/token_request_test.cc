// Requests that use tokens: methods, and the paths where the known APIs take batches.
#include "acl/token_request.h"

#include <gtest/gtest.h>

namespace stile::acl {
namespace {

TEST(TokenRequest, OnlyReadingAndDeletingUsesNone) {
  for (const std::string_view method : {"GET", "HEAD", "OPTIONS", "DELETE"}) {
    EXPECT_FALSE(can_spend_tokens(method, "")) << method;
    EXPECT_TRUE(can_spend_tokens(method, "POST")) << method << " with a field for POST";
  }
  for (const std::string_view method : {"POST", "PUT", "PATCH", "get", "QUERY", ""}) {
    EXPECT_TRUE(can_spend_tokens(method, "")) << method;
  }
}

TEST(TokenRequest, KnowsThePathsOfBatches) {
  for (const std::string_view path :
       {"/v1/messages/batches", "/v1/messages/batches/", "/v1/batches", "/openai/v1/batches",
        "/v1/%62atches", "/v1/Batches", "/v1/batches;a=b", "/v1%2fbatches", "/v1/batch/jobs",
        "/v1beta/models/gemini-3:batchGenerateContent",
        "/v1beta/models/gemini-3%3AbatchGenerateContent",
        "/v1beta/models/embedding-1:asyncBatchEmbedContent",
        "/v1/projects/p/locations/l/batchPredictionJobs", "/bedrock/model-invocation-job"}) {
    EXPECT_TRUE(begins_batch(path)) << path;
  }
}

TEST(TokenRequest, OtherPathsAreNoBatches) {
  for (const std::string_view path :
       {"/v1/messages", "/v1/messages/count_tokens", "/v1/messages/batches/b_1/cancel",
        "/v1/batches/b_1", "/v1/embeddings", "/v1beta/models/embedding-1:batchEmbedContents",
        "/v1beta/models/gemini-3:generateContent", "/v1/files", "/", ""}) {
    EXPECT_FALSE(begins_batch(path)) << path;
  }
}

}  // namespace
}  // namespace stile::acl
