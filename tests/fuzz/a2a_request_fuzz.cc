// Fuzzes what an A2A caller sends: the first line is the method, the path and the version, the rest
// the body. Every outcome has bounded, well-formed parts.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "a2a/request.h"
#include "a2a/text.h"
#include "config/json_loader.h"
#include "web/spawn_batch.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::string_view take(std::string_view& rest, char end) {
  const auto at = rest.find(end);
  const auto part = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return part;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stile;
  std::string_view rest{reinterpret_cast<const char*>(data), size};
  auto line = take(rest, '\n');
  a2a::HttpRequest request;
  request.method = take(line, ' ');
  request.path = take(line, ' ');
  request.version = line;
  request.query["pageSize"] = request.version;
  request.body = rest;
  const auto read = a2a::read_request(request);
  require(!read.id.empty() && read.id.find('\n') == std::string::npos);
  if (read.call) {
    require(read.call->text.size() <= size);
    require(read.call->task.find_first_of("/\"\\\n ") == std::string::npos);
    require(read.call->filter.page_size >= 1 && read.call->filter.page_size <= 100);
  } else {
    const auto fault = read.call.error();
    require(bool{config::parse_json(a2a::rest_error(fault), "")});
    require(bool{config::parse_json(a2a::rpc_error(fault, read.id), "")});
  }
  // Answers of the spawner hold what a worker wrote.
  if (const auto worker = a2a::parse_worker(rest)) {
    for (const auto& run : worker->runs) {
      const auto task = a2a::task_of(*worker, run, nullptr);
      require(a2a::run_of(*worker, task.id) == run.number);
      for (const auto dialect : {a2a::Dialect::v1, a2a::Dialect::v03}) {
        require(bool{config::parse_json(a2a::task_text(task, dialect), "")});
      }
    }
  }
  if (const auto batch = web::parse_batch(rest, "b")) {
    require(!batch->workers.empty() && batch->workers.size() <= web::most_workers_at_once);
    for (const auto& one : batch->workers) require(one.line.find('\n') == std::string::npos);
  }
  return 0;
}
