// Signing: Ed25519 by OpenSSL's EVP functions.
#include "fleet/signing.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

#include "base/free_by.h"
#include "base/sha256.h"

namespace stile::fleet {
namespace {

using Key = std::unique_ptr<EVP_PKEY, FreeBy<EVP_PKEY_free>>;
using Bio = std::unique_ptr<BIO, FreeBy<BIO_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, FreeBy<EVP_MD_CTX_free>>;

constexpr std::size_t key_bytes = 32;
constexpr const char* wrong_key = "not an Ed25519 key in PEM";

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

Bio reading(std::string_view pem) {
  return Bio{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
}

// Refuses a key with a pass phrase instead of asking on the terminal.
int no_pass_phrase(char*, int, int, void*) { return -1; }

Key private_key(std::string_view pem) {
  const Bio in = reading(pem);
  Key key{in ? PEM_read_bio_PrivateKey(in.get(), nullptr, no_pass_phrase, nullptr) : nullptr};
  if (key && EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519) key.reset();
  return key;
}

std::string written(const Bio& out) {
  std::string text(BIO_ctrl_pending(out.get()), '\0');
  const int got = BIO_read(out.get(), text.data(), static_cast<int>(text.size()));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

}  // namespace

Result<KeyPair> make_key_pair() {
  const Key key{EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")};
  const Bio secret{BIO_new(BIO_s_mem())}, open{BIO_new(BIO_s_mem())};
  if (!key || !secret || !open ||
      PEM_write_bio_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) !=
          1 ||
      PEM_write_bio_PUBKEY(open.get(), key.get()) != 1) {
    return Error{"OpenSSL cannot make a key"};
  }
  return KeyPair{written(secret), written(open)};
}

Result<std::string> public_key(std::string_view pem) {
  if (pem.size() > 65536) return Error{wrong_key};
  Key key = private_key(pem);
  if (!key) {
    const Bio in = reading(pem);
    key.reset(in ? PEM_read_bio_PUBKEY(in.get(), nullptr, no_pass_phrase, nullptr) : nullptr);
  }
  std::string raw(key_bytes, '\0');
  std::size_t size = raw.size();
  if (!key || EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519 ||
      EVP_PKEY_get_raw_public_key(key.get(), bytes_of(raw), &size) != 1 || size != key_bytes) {
    return Error{wrong_key};
  }
  return text_result(std::move(raw));
}

std::string fingerprint(std::string_view raw_public_key) { return sha256_text(raw_public_key); }

Result<void> sign(std::string_view private_pem, std::string_view name, Envelope& envelope) {
  const Key key = private_key(private_pem);
  if (!key) return Error{wrong_key};
  const auto raw = public_key(private_pem);
  if (!raw) return raw.error();
  envelope.signer = fingerprint(*raw);
  const std::string bytes = signed_bytes(name, envelope);
  const Digest context{EVP_MD_CTX_new()};
  std::string signature(signature_bytes, '\0');
  std::size_t size = signature.size();
  if (!context || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), bytes_of(signature), &size, bytes_of(bytes), bytes.size()) !=
          1 ||
      size != signature_bytes) {
    return Error{"OpenSSL cannot sign with this key"};
  }
  envelope.signature = std::move(signature);
  return {};
}

Result<void> Signers::add(std::string_view pem) {
  auto raw = public_key(pem);
  if (!raw) return raw.error();
  auto name = fingerprint(*raw);
  keys_[std::move(name)] = std::move(*raw);
  return {};
}

Result<void> Signers::verify(std::string_view name, const Envelope& envelope) const {
  const auto found = keys_.find(envelope.signer);
  if (found == keys_.end()) {
    return Error{"signed by " + envelope.signer.substr(0, 16) + ", which is not in signers"};
  }
  const Key key{EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(found->second),
                                            found->second.size())};
  const Digest context{EVP_MD_CTX_new()};
  const std::string bytes = signed_bytes(name, envelope);
  if (key && context &&
      EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
      EVP_DigestVerify(context.get(), bytes_of(envelope.signature), envelope.signature.size(),
                       bytes_of(bytes), bytes.size()) == 1) {
    return {};
  }
  return Error{"the signature does not match"};
}

}  // namespace stile::fleet
