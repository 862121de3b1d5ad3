// Signing: only what a signer signed, under the name that it was signed for.
#include "fleet/signing.h"

#include <gtest/gtest.h>

#include "tests/fleet/keys.h"

namespace stile::fleet {
namespace {

TEST(Signing, VerifiesWhatASignerSigned) {
  const auto envelope = signed_by(signer(), "policy/base", envelope_of(1));
  EXPECT_TRUE(trusted().verify("policy/base", envelope));
}

// Made by another implementation (Python's cryptography), with the private key 00 01 02 to 1f.
const std::string other_pem =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEAA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=\n"
    "-----END PUBLIC KEY-----\n";
const std::string other_text =
    R"({"body":{"agent":[{"allow":[".example.com"],"bytes_up":"1MiB","id":"alpha"}],"eg)"
    R"(ress":{"deny":["never.example"]}},"hosts":[],"labels":["prod"],"not_after":"2026)"
    R"(-12-31T00:00:00Z","not_before":"2026-11-18T00:00:00Z","serial":7,"signature":"u8)"
    R"(syV/rm1bHwRk1oD3j7yC2/xw5oS45PQWUa/eSnqVRV+corzBhYvQ+COU+KUVmyfengDxgSscSNDAI18t)"
    R"(UoCA==","signer":"56475aa75463474c0285df5dbf2bcab73da651358839e9b77481b2eab10770)"
    R"(8c"})";

TEST(Signing, VerifiesWhatAnotherImplementationSigned) {
  Signers signers;
  ASSERT_TRUE(signers.add(other_pem));
  const auto envelope = parse_envelope(other_text);
  ASSERT_TRUE(envelope) << envelope.error().message;
  EXPECT_TRUE(signers.verify("policy/base", *envelope));
  EXPECT_FALSE(signers.verify("policy/bash", *envelope));
}

TEST(Signing, RefusesAnotherName) {
  const auto envelope = signed_by(signer(), "policy/base", envelope_of(1));
  EXPECT_FALSE(trusted().verify("policy/other", envelope));
  EXPECT_FALSE(trusted().verify("switch", envelope));
}

TEST(Signing, RefusesEveryChangedField) {
  const auto good = signed_by(signer(), "policy/base", envelope_of(1));
  std::vector<Envelope> changed(7, good);
  changed[0].serial = 2;
  changed[1].not_before -= second_us;
  changed[2].not_after += second_us;
  changed[3].hosts = {"web-1"};
  changed[4].labels = {"prod"};
  changed[5].body = R"({"agent":[]})";
  changed[6].signature[10] = static_cast<char>(changed[6].signature[10] ^ 1);
  for (const auto& envelope : changed) EXPECT_FALSE(trusted().verify("policy/base", envelope));
}

TEST(Signing, RefusesForeignKeys) {
  const auto stranger = *make_key_pair();
  auto envelope = signed_by(stranger, "policy/base", envelope_of(1));
  EXPECT_FALSE(trusted().verify("policy/base", envelope));
  envelope.signer = fingerprint(*public_key(signer().public_pem));  // claims to be a signer
  EXPECT_FALSE(trusted().verify("policy/base", envelope));
  EXPECT_FALSE(Signers{}.verify("policy/base", signed_by(signer(), "policy/base", envelope)));
}

TEST(Signing, RefusesOtherKindsOfKeys) {
  Signers signers;
  for (const std::string& pem :
       {std::string{}, std::string{"not PEM"},
        std::string{"-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n"
                    "-----END PUBLIC KEY-----\n"},
        std::string(100'000, 'A')}) {
    EXPECT_FALSE(signers.add(pem)) << pem.substr(0, 40);
  }
  EXPECT_TRUE(signers.is_empty());
  auto envelope = envelope_of(1);
  EXPECT_FALSE(sign(signer().public_pem, "switch", envelope));  // the public half cannot sign
}

}  // namespace
}  // namespace stile::fleet
