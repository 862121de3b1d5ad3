// Requests that use tokens: by their methods, and batches by their paths.
#include "acl/token_request.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/ascii.h"
#include "base/contains.h"

namespace stile::acl {
namespace {

constexpr std::array<std::string_view, 6> batch_paths{
    "/batches",                 // Anthropic, OpenAI and many that imitate it
    "/batch/jobs",              // Mistral
    ":batchgeneratecontent",    // Gemini
    ":asyncbatchembedcontent",  // Gemini
    "/batchpredictionjobs",     // Gemini at Vertex AI
    "/model-invocation-job",    // Amazon Bedrock
};

// As a generous server would read it: decoded, in lower case, without parameters and a slash at its
// end.
std::string loosely_read(std::string_view path) {
  std::string read;
  for (std::size_t at = 0; at < path.size(); ++at) {
    char c = path[at];
    if (c == '%' && at + 2 < path.size()) {
      c = static_cast<char>(hex_value(path[at + 1]) << 4 | hex_value(path[at + 2]));
      at += 2;
    }
    read += to_lower(c);
  }
  const std::size_t segment = read.rfind('/');
  if (const auto parameter = read.find(';', segment); parameter != std::string::npos) {
    read.resize(parameter);
  }
  if (read.ends_with('/')) read.pop_back();
  return read;
}

}  // namespace

bool can_spend_tokens(std::string_view method, std::string_view other_method) noexcept {
  constexpr std::array<std::string_view, 4> harmless{"GET", "HEAD", "OPTIONS", "DELETE"};
  return !other_method.empty() || !contains(harmless, method);
}

bool begins_batch(std::string_view path) {
  const std::string read = loosely_read(path);
  return std::any_of(batch_paths.begin(), batch_paths.end(),
                     [&](std::string_view end) { return read.ends_with(end); });
}

}  // namespace stile::acl
