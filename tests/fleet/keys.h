// Keys and envelopes for the tests of a fleet.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "fleet/envelope.h"
#include "fleet/signing.h"

namespace stile::fleet {

constexpr UnixMicros second_us = 1'000'000;
constexpr UnixMicros now = 500 * second_us;  // within the time of envelope_of()

// One key for all tests of a program.
inline const KeyPair& signer() {
  static const KeyPair pair = *make_key_pair();
  return pair;
}

inline Signers trusted() {
  Signers signers;
  EXPECT_TRUE(signers.add(signer().public_pem));
  return signers;
}

// Valid from second 100 to second 1000.
inline Envelope envelope_of(std::uint64_t serial, std::string body = "{}") {
  Envelope envelope;
  envelope.serial = serial;
  envelope.not_before = 100 * second_us;
  envelope.not_after = 1000 * second_us;
  envelope.body = std::move(body);
  return envelope;
}

inline Envelope signed_by(const KeyPair& pair, std::string_view name, Envelope envelope) {
  EXPECT_TRUE(sign(pair.private_pem, name, envelope));
  return envelope;
}

inline std::string signed_text(std::string_view name, Envelope envelope) {
  return envelope_text(signed_by(signer(), name, std::move(envelope)));
}

}  // namespace stile::fleet
