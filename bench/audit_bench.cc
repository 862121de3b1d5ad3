// What a line of the audit log costs: formatting it, hashing it, writing it alone and in batches.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "audit/log.h"
#include "audit/verify.h"
#include "base/sha256.h"

namespace stile::audit {
namespace {

Record sample() {
  Record record;
  record.event = Event::open;
  record.time_us = 1'794'819'600'123'456;
  record.agent = "alpha";
  record.src = "10.200.0.2:40312";
  record.conn = 123456;
  record.method = "CONNECT";
  record.host = "api.github.com";
  record.port = 443;
  record.verdict = acl::Verdict::allow;
  record.rule = "api.github.com (/etc/stile/stile.toml:12)";
  record.status = 200;
  record.origin = "140.82.121.6";
  record.sni = "api.github.com";
  record.policy = 3;
  return record;
}

void count_lines(benchmark::State& state, std::int64_t per_turn) {
  state.SetItemsProcessed(state.iterations() * per_turn);
}

void format(benchmark::State& state, Format format) {
  Batch batch{format};
  Record record = sample();
  record.event = Event::close;
  for (auto _ : state) {
    record.time_us += 10;
    batch.add(record);
    batch.clear();
  }
  count_lines(state, 1);
}
BENCHMARK_CAPTURE(format, json, Format::json);
BENCHMARK_CAPTURE(format, squid, Format::squid);

void hash_400_bytes(benchmark::State& state) {
  Sha256 sha;
  const std::string line(400, 'x');
  for (auto _ : state) benchmark::DoNotOptimize(sha.hash(line));
  count_lines(state, 1);
}
BENCHMARK(hash_400_bytes);

// One turn of a worker: so many lines formatted, linked and written.
void write_to(benchmark::State& state, const std::string& path, bool chain) {
  auto log = Log::open({.path = path, .chain = chain, .max_bytes = 64 << 20, .keep = 1});
  if (!log) {
    state.SkipWithError(log.error().message.c_str());
    return;
  }
  Batch batch{Format::json};
  const Record record = sample();
  for (auto _ : state) {
    for (std::int64_t line = 0; line < state.range(0); ++line) batch.add(record);
    benchmark::DoNotOptimize((*log)->write(batch));
  }
  count_lines(state, state.range(0));
}

std::string temporary_log() {
  return std::filesystem::temp_directory_path() / ("stile-bench-" + std::to_string(::getpid()));
}

void write_null(benchmark::State& state) { write_to(state, "/dev/null", true); }
BENCHMARK(write_null)->Arg(1)->Arg(16)->Arg(256);

void write_file(benchmark::State& state) {
  write_to(state, temporary_log(), true);
  std::filesystem::remove(temporary_log());
  std::filesystem::remove(temporary_log() + ".1");
}
BENCHMARK(write_file)->Arg(1)->Arg(16)->Arg(256);

void write_file_without_chain(benchmark::State& state) {
  write_to(state, temporary_log(), false);
  std::filesystem::remove(temporary_log());
  std::filesystem::remove(temporary_log() + ".1");
}
BENCHMARK(write_file_without_chain)->Arg(16);

void verify_lines(benchmark::State& state) {
  constexpr int lines = 100'000;
  const std::string path = temporary_log();
  {
    auto log = Log::open({.path = path});
    Batch batch{Format::json};
    const Record record = sample();
    for (int line = 0; line < lines; ++line) batch.add(record);
    if (!log || (*log)->write(batch) != lines) state.SkipWithError("cannot write");
  }
  for (auto _ : state) {
    std::ostringstream out, err;
    if (verify({path}, {}, out, err) != 0) state.SkipWithError(err.str().c_str());
  }
  count_lines(state, lines);
  std::filesystem::remove(path);
}
BENCHMARK(verify_lines)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stile::audit

BENCHMARK_MAIN();
