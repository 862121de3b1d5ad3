// Command: what each subcommand of `stile` is, and how it joins the program.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace stile::cli {

// Exit statuses; scripts rely on them.
inline constexpr int fine = 0;
inline constexpr int failed = 1;  // refused, or it did not work
inline constexpr int misused = 2;
inline constexpr int no_daemon = 3;

// Does the work of a command and returns the exit status. It runs after the whole command line was
// found to be right, so that a slip in a later word changes nothing.
using Action = std::function<int()>;

// Adds one subcommand to `app`; when it is chosen, its callback sets `action`.
using AddCommand = void(CLI::App& app, Action& action);

}  // namespace stile::cli
