// Exchange: one request to a worker's keeper, and its answer, without blocking the spawner.
#pragma once

#include <systemd/sd-event.h>

#include <chrono>
#include <functional>
#include <string>

#include "base/result.h"

namespace stile::spawn {

using Answered = std::function<void(const Result<std::string>& line)>;

// Sends the line, and calls `answered` once: with the answer without its newline, or an error after
// `longest`.
void exchange(sd_event* loop, const std::string& socket, std::string line,
              std::chrono::seconds longest, Answered answered);

}  // namespace stile::spawn
