// Bus: a connection to a systemd manager, and its calls as messages. Only units/ and spawn/ see the
// types of libsystemd.
#pragma once

#include <systemd/sd-bus.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "units/property.h"

namespace stile::units {

inline constexpr const char* manager_name = "org.freedesktop.systemd1";
inline constexpr const char* manager_path = "/org/freedesktop/systemd1";
inline constexpr const char* manager_interface = "org.freedesktop.systemd1.Manager";

struct CloseBus {
  void operator()(sd_bus* bus) const { sd_bus_flush_close_unref(bus); }
};
using BusPtr = std::unique_ptr<sd_bus, CloseBus>;

struct UnrefMessage {
  void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
};
using MessagePtr = std::unique_ptr<sd_bus_message, UnrefMessage>;

enum class Whose : std::uint8_t { system, user };

// The bus's text about a call that failed with this code, or errno's.
[[nodiscard]] Error bus_error(const std::string& what, int code,
                              const sd_bus_error* error = nullptr);

// Connects to the bus and asks the manager to send signals about its jobs.
[[nodiscard]] Result<BusPtr> open_bus(Whose whose);

// StartTransientUnit in mode "fail": a unit of that name must not exist.
[[nodiscard]] Result<MessagePtr> start_call(sd_bus& bus, const Unit& unit);

// Starts a scope around running processes and waits until systemd has moved them.
[[nodiscard]] Result<void> start_scope(sd_bus& bus, const Unit& unit,
                                       std::chrono::milliseconds longest);

}  // namespace stile::units
