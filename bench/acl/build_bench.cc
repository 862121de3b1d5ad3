// Time from a list file on disk to a snapshot that decides.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "acl/policy.h"
#include "bench/acl/names.h"

namespace stile::bench {
namespace {

class ListFile {
 public:
  explicit ListFile(std::size_t rules)
      : path_{"/tmp/stile-acl-bench-" + std::to_string(getpid()) + ".txt"} {
    std::ofstream file{path_};
    for (const auto& name : make_names(rules, 1)) file << name << '\n';
  }
  ~ListFile() { std::remove(path_.c_str()); }
  ListFile(const ListFile&) = delete;
  ListFile& operator=(const ListFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string read_whole(const std::string& path) {
  std::ifstream file{path, std::ios::binary | std::ios::ate};
  std::string text(static_cast<std::size_t>(file.tellg()), '\0');
  file.seekg(0).read(text.data(), static_cast<std::streamsize>(text.size()));
  return text;
}

acl::Snapshot load(const std::string& path) {
  const std::string text = read_whole(path);
  acl::RuleSet::Builder builder{path};
  std::uint32_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (!builder.add_text(std::string_view{text}.substr(at, end - at), ++line)) std::abort();
    at = end + 1;
  }
  auto agent = std::make_shared<acl::AgentPolicy>();
  agent->allow.sets.push_back(std::move(builder).build());
  return acl::Snapshot{1, {std::move(agent)}};
}

void build_from_file(benchmark::State& state) {
  const ListFile file{static_cast<std::size_t>(state.range(0))};
  for (auto _ : state) {
    const acl::Snapshot snapshot = load(file.path());
    benchmark::DoNotOptimize(&snapshot);
  }
}

BENCHMARK(build_from_file)
    ->ArgName("rules")
    ->Arg(1000)
    ->Arg(100000)
    ->Arg(1000000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stile::bench
