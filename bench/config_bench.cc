// How long reading takes: a list file to a rule set, a config with many agents to policies.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "config/compile.h"
#include "config/list_file_cache.h"
#include "config/load.h"

namespace stile::config {
namespace {

// A file of this process, gone at the end of the benchmark.
class TempFile {
 public:
  explicit TempFile(const std::string& content)
      : path_{std::filesystem::temp_directory_path() /
              ("stile-bench-" + std::to_string(::getpid()))} {
    std::ofstream{path_} << content;
    std::filesystem::permissions(path_, std::filesystem::perms{0600});
  }
  ~TempFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// From the file on disk, trust check included, to the rule set that decides.
void list_file(benchmark::State& state) {
  std::string names;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    names += (i % 3 == 0 ? ".host-" : "host-") + std::to_string(i * 2'654'435'761 % 10'000'000) +
             ".zone" + std::to_string(i % 977) + ".example.com\n";
  }
  const TempFile file{names};
  for (auto _ : state) {
    ListFileCache lists{::geteuid()};
    const auto& rules = lists.get(file.path());
    if (!rules) return state.SkipWithError(rules.error().text().c_str());
    benchmark::DoNotOptimize((*rules)->size());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(list_file)->Arg(1'000)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

// From stile.toml to the policies of all its agents.
void agents(benchmark::State& state) {
  std::string text = "[agents]\ndirectories = []\n";
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    text += "[[agent]]\nid = \"agent-" + std::to_string(i) + "\"\nsource = [\"10." +
            std::to_string(i / 65536) + '.' + std::to_string(i / 256 % 256) + '.' +
            std::to_string(i % 256) + "\"]\nallow = [\".anthropic.com\", \"api.github.com\"]\n";
  }
  const TempFile file{text};
  for (auto _ : state) {
    auto loaded = load(file.path());
    if (!loaded) return state.SkipWithError(loaded.error().text().c_str());
    auto shared = share(*loaded);
    const auto policies = compile_all(*loaded, shared);
    if (!policies) return state.SkipWithError(policies.error().text().c_str());
    benchmark::DoNotOptimize(policies->size());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(agents)->Arg(10)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stile::config
