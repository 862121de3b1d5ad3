// Captain: the tools of `stile mcp`, as requests to the spawner and to the daemon.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json_value.h"
#include "base/result.h"
#include "mcp/tool.h"

namespace stile::mcp {

// A separate type, because Json converts to and from nearly everything.
struct DaemonAnswer {
  Json json;
};
using AskDaemon = std::function<Result<DaemonAnswer>(const Json& request)>;

class Captain final : public ToolBox {
 public:
  static constexpr std::size_t max_output_bytes = std::size_t{64} << 10U;

  // Both are called on several threads at the same time.
  struct Services {
    AskDaemon spawner, daemon;
  };
  explicit Captain(Services services);

  [[nodiscard]] const std::vector<Tool>& tools() const override { return tools_; }
  [[nodiscard]] ToolOutcome call(const ToolCall& call, CallContext& context) override;

 private:
  // A result, or the reason why there is none.
  using Outcome = Result<DaemonAnswer>;
  // One task whose output is read.
  struct Following {
    std::string worker;
    Json run;  // null: the latest
    std::uint64_t cursor = 0, wait_seconds = 0;
    bool until_end = true;  // false: until there is some output
  };

  [[nodiscard]] Outcome spawn_worker(const ToolCall& call, CallContext& context);
  [[nodiscard]] Outcome list_workers(const ToolCall& call, CallContext& context);
  [[nodiscard]] Outcome get_worker_status(const ToolCall& call, CallContext& context);
  [[nodiscard]] Outcome terminate_worker(const ToolCall& call, CallContext& context);
  [[nodiscard]] Outcome send_task(const ToolCall& call, CallContext& context);
  [[nodiscard]] Outcome read_output(const ToolCall& call, CallContext& context);
  [[nodiscard]] Outcome cancel_task(const ToolCall& call, CallContext& context);
  [[nodiscard]] Outcome list_files(const ToolCall& call, CallContext& context);
  [[nodiscard]] Outcome read_file(const ToolCall& call, CallContext& context);
  [[nodiscard]] Outcome explain_access(const ToolCall& call, CallContext& context);
  [[nodiscard]] Outcome request_access(const ToolCall& call, CallContext& context);
  [[nodiscard]] Outcome containment_status(const ToolCall& call, CallContext& context);

  using Handler = Outcome (Captain::*)(const ToolCall&, CallContext&);
  [[nodiscard]] static Handler handler_of(std::string_view tool);
  [[nodiscard]] Outcome follow(const Following& task, CallContext& context);
  [[nodiscard]] Outcome wait_for_answer(const ToolCall& call, Json result, CallContext& context);
  [[nodiscard]] Outcome check_is_worker(const std::string& id);

  Services services_;
  std::vector<Tool> tools_;
};

}  // namespace stile::mcp
