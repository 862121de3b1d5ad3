// Asks as JSON: for people, for those who follow them, and for the agent that asked.
#pragma once

#include <string>
#include <vector>

#include "control/ask_book.h"

namespace stile::commands {

// One object, as in the list of `asks`.
void append_ask(std::string& out, const control::Ask& ask, UnixMicros now);
// {"ok":true,"asks":[…]}
[[nodiscard]] std::string asks_text(const std::vector<control::Ask>& asks, UnixMicros now);
// A line for those who follow: the ask is new or its counts have changed.
[[nodiscard]] std::string ask_event(const control::Ask& ask, UnixMicros now);
// The ask is no longer open.
[[nodiscard]] std::string answer_event(const control::Ask& ask);

// What an agent sees of its own asks.
[[nodiscard]] std::string own_ask_text(const control::Ask& ask);
[[nodiscard]] std::string own_asks_text(const std::vector<control::Ask>& asks);

}  // namespace stile::commands
