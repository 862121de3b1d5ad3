// EventSource: owns one source of the event loop.
#pragma once

#include <systemd/sd-event.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>

namespace stile::spawn {

struct DropSource {
  void operator()(sd_event_source* source) const { sd_event_source_disable_unref(source); }
};
using EventSource = std::unique_ptr<sd_event_source, DropSource>;

// Null: no memory.
[[nodiscard]] inline EventSource add_io(sd_event* loop, int fd, std::uint32_t events,
                                        sd_event_io_handler_t handler, void* userdata) {
  sd_event_source* source = nullptr;
  sd_event_add_io(loop, &source, fd, events, handler, userdata);
  return EventSource{source};
}

[[nodiscard]] inline EventSource add_timer(sd_event* loop, std::chrono::microseconds after,
                                           sd_event_time_handler_t handler, void* userdata) {
  sd_event_source* source = nullptr;
  sd_event_add_time_relative(loop, &source, CLOCK_MONOTONIC,
                             static_cast<std::uint64_t>(after.count()), 0, handler, userdata);
  return EventSource{source};
}

}  // namespace stile::spawn
