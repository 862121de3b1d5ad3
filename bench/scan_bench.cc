// Micro-benchmarks of scans: bytes a second for clean bodies, and for bodies that are made to hurt.
// The counter `work` is the number of bytes that were looked at for each byte of the body;
// `longest_us` is the time of the longest step, in the best of all rounds.
#include <benchmark/benchmark.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "samples.h"
#include "scan/search.h"

namespace {

using namespace stile::scan;
using namespace stile::scan::samples;

constexpr std::size_t piece_bytes = 64 * 1024, body_bytes = 1 << 20;

std::string repeated(std::string_view part) {
  std::string text;
  while (text.size() < body_bytes) text += part;
  text.resize(body_bytes);
  return text;
}

// A conversation with code in it, as a coding agent sends it to a model.
std::string conversation() {
  return repeated(
      R"({"role":"user","content":[{"type":"tool_result","content":"#include <vector>\n\nint main() {\n  )"
      R"(std::vector<int> numbers{1, 2, 3};\n  for (const int n : numbers) std::printf(\"%d\\n\", n);\n}\n)"
      R"(// see https://example.com/docs/some/page?x=1 and commit 8f6e1f4a2b0c9d7e5f3a1b2c4d6e8f0a1b3c5d7e"}]},)");
}

std::string prose() {
  return repeated(
      "It was the best of times, it was the worst of times, said the quick brown fox. ");
}

void search(benchmark::State& state, const std::string& body,
            const std::shared_ptr<const Texts>& texts) {
  using Clock = std::chrono::steady_clock;
  std::uint64_t work = 0;
  auto best = Clock::duration::max();
  while (state.KeepRunning()) {
    Search one{texts};
    auto longest = Clock::duration::zero();
    for (std::size_t at = 0; at < body.size(); at += piece_bytes) {
      Steps steps = one.begin(std::string_view{body}.substr(at, piece_bytes));
      auto began = Clock::now();
      for (bool goes_on = true; goes_on;) {
        goes_on = steps.go_on();
        const auto now = Clock::now();
        longest = std::max(longest, now - std::exchange(began, now));
      }
    }
    best = std::min(best, longest);
    work = one.work();
    benchmark::DoNotOptimize(one.found());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
  state.counters["longest_us"] = std::chrono::duration<double, std::micro>{best}.count();
  state.counters["work"] = static_cast<double>(work) / static_cast<double>(body.size());
}

// One layer only, as it was sent: by anchors, and as one RE2::Set of the same shapes. See
// docs/decisions/0004-anchors-for-built-in-scans.md.
void look_by_anchors(benchmark::State& state, const std::string& body,
                     const std::shared_ptr<const Texts>& texts) {
  while (state.KeepRunning()) {
    SeedPhrases phrases{body};
    benchmark::DoNotOptimize(texts->look_at(body, 0, body.size(), phrases));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}

void look_by_re2_set(benchmark::State& state, const std::string& body) {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  RE2::Set set{options, RE2::UNANCHORED};
  for (const Shape& shape : shapes()) {
    if (shape.set != Set::tokens) continue;
    const std::string first{shape.first};
    const std::size_t least = std::max<std::size_t>(shape.least, 1);
    set.Add(RE2::QuoteMeta(first) + "[0-9A-Za-z_+/.-]{" + std::to_string(least) + "}", nullptr);
  }
  set.Compile();
  std::vector<int> found;
  while (state.KeepRunning()) benchmark::DoNotOptimize(set.Match(body, &found));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}

const auto only_tokens = texts_of({{"tokens", "", ScanAction::refuse}});
const auto own = texts_of({{"own", R"(corp\.example|(?i)project bluebird)", ScanAction::refuse}});

BENCHMARK_CAPTURE(look_by_anchors, prose, prose(), only_tokens);
BENCHMARK_CAPTURE(look_by_re2_set, prose, prose());
BENCHMARK_CAPTURE(look_by_anchors, conversation, conversation(), only_tokens);
BENCHMARK_CAPTURE(look_by_re2_set, conversation, conversation());
BENCHMARK_CAPTURE(look_by_anchors, binary, random_bytes(body_bytes, 2), only_tokens);
BENCHMARK_CAPTURE(look_by_re2_set, binary, random_bytes(body_bytes, 2));
BENCHMARK_CAPTURE(search, prose_tokens, prose(), only_tokens);
BENCHMARK_CAPTURE(search, conversation_tokens, conversation(), only_tokens);
BENCHMARK_CAPTURE(search, image_tokens, stile::base64(random_bytes(body_bytes * 3 / 4, 1)),
                  only_tokens);
BENCHMARK_CAPTURE(search, binary_tokens, random_bytes(body_bytes, 2), only_tokens);
BENCHMARK_CAPTURE(search, conversation_all_sets, conversation(), all_sets());
BENCHMARK_CAPTURE(search, conversation_own_pattern, conversation(), own);
BENCHMARK_CAPTURE(search, hostile_prefixes, repeated("sk-ant-"), all_sets());
BENCHMARK_CAPTURE(search, hostile_short_runs, repeated(random_text(511, 3) + " "), all_sets());
BENCHMARK_CAPTURE(search, hostile_percent, repeated("%25252541"), all_sets());
BENCHMARK_CAPTURE(search, hostile_base58, repeated("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb "),
                  all_sets());
BENCHMARK_CAPTURE(search, hostile_seed_phrases,
                  repeated("legal winner thank year wave sausage worth useful tiger oval acid "),
                  all_sets());
BENCHMARK_CAPTURE(search, hostile_gzip_in_base64,
                  repeated(stile::base64(gzip(prose().substr(0, 900'000)))), all_sets());
BENCHMARK_CAPTURE(search, hostile_cards, repeated("4539 5787 6362 1487 "), all_sets());

}  // namespace
