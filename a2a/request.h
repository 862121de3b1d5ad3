// Request: what an A2A caller wants, from the bytes of an HTTP request. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "a2a/fault.h"
#include "a2a/task.h"

namespace stile::a2a {

enum class Operation : std::uint8_t {
  send,
  send_stream,
  get,
  list,
  cancel,
  subscribe,
  follow_latest,  // the output of the newest task, as lines
  files,
  read_file,
};

// In which words the caller speaks: A2A 1.0, A2A 0.3, or the older routes (/tasks/send …).
enum class Dialect : std::uint8_t { v1, v03, plain };

struct ListFilter {
  std::string context;         // "": all
  std::optional<State> state;  // nullopt: all
  std::optional<UnixMicros> after;
  std::size_t page_size = 50;
  std::string page_token;
  bool has_output = false;
};

struct Call {
  Operation operation = Operation::get;
  Dialect dialect = Dialect::v1;
  std::string text;           // of send: what the task reads
  std::string context, task;  // ids; "": none
  bool is_immediate = false;  // of send: do not wait for the end of the task
  ListFilter filter;          // of list
  std::string path;           // of files and read_file
  std::uint64_t offset = 0;   // of read_file
};

// What HTTP brought. `path` is what follows the name of the worker: "/message:send".
struct HttpRequest {
  std::string_view method, path, body;
  std::map<std::string, std::string> query;
  std::string version;  // of the header A2A-Version
};

struct Read {
  bool is_rpc = false;
  std::string id = "null";  // of a JSON-RPC request, as JSON text
  Outcome<Call> call = Fault{};
};
[[nodiscard]] Read read_request(const HttpRequest& request);

// A document that everybody may read.
enum class CardForm : std::uint8_t { none, v1, v03 };
[[nodiscard]] CardForm card_at(std::string_view path) noexcept;

inline constexpr std::string_view rpc_path = "/rpc";

}  // namespace stile::a2a
