// Which requests to the API of a model can use tokens, and which use more than anything reports.
#pragma once

#include <string_view>

namespace stile::acl {

// Why a request is refused on a host with `tokens`, although the rules allow it.
inline constexpr std::string_view batch_fault =
    "the tokens of a batch cannot be counted, and tokens are limited here";
inline constexpr std::string_view websocket_fault =
    "the tokens of a WebSocket cannot be counted, and tokens are limited here";

// False: a request that only reads or deletes. `other_method` is that of a field, as in
// RequestFacts.
[[nodiscard]] bool can_spend_tokens(std::string_view method,
                                    std::string_view other_method) noexcept;

// The path, a plain one, begins a batch at Anthropic, OpenAI, Gemini, or an API made like them. The
// work is done later, and nothing that the agent has to read reports it.
[[nodiscard]] bool begins_batch(std::string_view path);

}  // namespace stile::acl
