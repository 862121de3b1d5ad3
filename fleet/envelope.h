// Envelope: one signed object of the fleet, as it lies in the store. Pure: no clock, no socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unix_time.h"

namespace stile::fleet {

// etcd's own limit for a request is 1.5 MiB.
inline constexpr std::size_t max_envelope_bytes = std::size_t{1} << 20U;
inline constexpr std::size_t signature_bytes = 64;
inline constexpr std::size_t max_targets = 1024;  // hosts, and labels
inline constexpr std::uint64_t max_serial = (std::uint64_t{1} << 53U) - 1;

struct Envelope {
  std::uint64_t serial = 0;
  UnixMicros not_before = 0, not_after = 0;
  std::vector<std::string> hosts, labels;  // whom it is for; both empty: every host
  std::string body;                        // a JSON object, canonical
  std::string signer;                      // the fingerprint of the key
  std::string signature;                   // 64 raw bytes

  friend bool operator==(const Envelope&, const Envelope&) = default;
};

// Strict: the text must be exactly what envelope_text() writes, so that each object has one text.
[[nodiscard]] Result<Envelope> parse_envelope(std::string_view text);
[[nodiscard]] std::string envelope_text(const Envelope& envelope);

// The bytes that are signed: everything but the signature, and the key below the prefix
// ("policy/base"), so that the store cannot put an object in the place of another.
[[nodiscard]] std::string signed_bytes(std::string_view name, const Envelope& envelope);

// "policy/NAME", with a NAME like an agent's id, or "switch".
[[nodiscard]] bool is_object_name(std::string_view name);

// Whether the object is for a host of this name with these labels.
[[nodiscard]] bool applies_to(const Envelope& envelope, std::string_view host,
                              const std::vector<std::string>& labels);

}  // namespace stile::fleet
