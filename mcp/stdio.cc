// serve_stdio: reads on this thread; calls answer on theirs.
#include "mcp/stdio.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "mcp/line_reader.h"
#include "mcp/running_call.h"

namespace stile::mcp {
namespace {

class StdioServer {
 public:
  StdioServer(const Protocol& protocol, ToolBox& tools, int out)
      : protocol_{protocol}, out_{out}, runner_{tools} {}

  void take(const LineReader::Line& line) {
    if (line.is_too_long) {
      return write(
          fault_text({}, {RpcCode::invalid_request, "a message has at most 262144 bytes", {}}));
    }
    if (line.text.find_first_not_of(" \t\r") == std::string::npos) return;
    const auto message = parse_message(line.text);
    if (!message) return write(Protocol::refuse(message.error()).text);
    auto step = protocol_.take(*message, handshake_, nullptr);
    if (const auto* reply = std::get_if<Reply>(&step)) write(reply->text);
    if (const auto* cancel = std::get_if<Cancel>(&step)) end_call(cancel->id);
    if (auto* call = std::get_if<ToolCall>(&step)) start(std::move(*call));
  }

  void end_all() {
    {
      const std::lock_guard lock{mutex_};
      for (const auto& [id, call] : calls_) call->end(CallContext::State::abandoned);
    }
    runner_.join();
  }

 private:
  void write(const std::string& message) {
    const std::lock_guard lock{writing_};
    const std::string line = message + '\n';
    std::size_t written = 0;
    while (written < line.size()) {
      const auto count = ::write(out_, line.data() + written, line.size() - written);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;  // the client is gone; the reader sees that, too
      written += static_cast<std::size_t>(count);
    }
  }

  void end_call(const Json& id) {
    const std::lock_guard lock{mutex_};
    const auto found = calls_.find(id.dump());
    if (found != calls_.end()) found->second->end(CallContext::State::canceled);
  }

  void start(ToolCall called) {
    const auto key = called.id.dump();
    const auto call = std::make_shared<RunningCall>(
        std::move(called), [this](const std::string& message) { write(message); });
    {
      const std::lock_guard lock{mutex_};
      if (!calls_.emplace(key, call).second) {
        return write(fault_text(
            call->call().id, {RpcCode::invalid_request, "a call with this id runs already", {}}));
      }
    }
    const bool is_started = runner_.start(call, [this, key, call](const ToolOutcome& outcome) {
      {
        const std::lock_guard lock{mutex_};
        calls_.erase(key);
      }
      // A canceled request gets no answer.
      if (call->state() == CallContext::State::canceled) return;
      write(protocol_.finish(call->call(), outcome).text);
    });
    if (is_started) return;
    {
      const std::lock_guard lock{mutex_};
      calls_.erase(key);
    }
    write(fault_text(call->call().id, {RpcCode::too_busy, "16 calls run already", {}}));
  }

  const Protocol& protocol_;
  int out_;
  Handshake handshake_;
  std::mutex writing_, mutex_;
  std::map<std::string, RunningCallPtr> calls_;  // by id
  Runner runner_;                                // last: its threads use the others
};

}  // namespace

void serve_stdio(const Protocol& protocol, ToolBox& tools, int in, int out) {
  std::signal(SIGPIPE, SIG_IGN);
  StdioServer server{protocol, tools, out};
  LineReader reader{max_message_bytes};
  std::array<char, 65536> bytes;
  while (true) {
    const auto count = ::read(in, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    reader.add({bytes.data(), static_cast<std::size_t>(count)});
    while (const auto line = reader.next()) server.take(*line);
  }
  server.end_all();
}

}  // namespace stile::mcp
