// params: reads the parameters of an operation. Pure.
#pragma once

#include <string_view>

#include "a2a/fault.h"
#include "a2a/request.h"
#include "config/node.h"

namespace stile::a2a {

// `call` has its operation and dialect, and the task if the route names one. `params` is an object.
[[nodiscard]] Outcome<Call> read_call(Call call, const config::Node& params);

// The answer to what this server does not offer.
[[nodiscard]] Fault refusal_of(Problem problem);

[[nodiscard]] bool is_task_id(std::string_view text) noexcept;

}  // namespace stile::a2a
