// Sha256 on OpenSSL's EVP.
#include "base/sha256.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <stdexcept>

#include "base/ascii.h"

namespace stile {
namespace {

// A fetch costs microseconds in OpenSSL 3.0 and is done once per process. Never freed, since log
// writers may live until exit.
const EVP_MD* digest() {
  static const EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return fetched;
}

void require(int result) {
  if (result != 1) throw std::runtime_error{"OpenSSL cannot compute SHA-256"};
}

// The two digits of each byte. Every audit line has a hash.
constexpr auto byte_digits = [] {
  std::array<std::array<char, 2>, 256> digits{};
  for (std::size_t byte = 0; byte < digits.size(); ++byte) {
    digits[byte] = {hex_digits[byte >> 4], hex_digits[byte & 15]};
  }
  return digits;
}();

HexHash to_hex(const std::array<unsigned char, 32>& bytes) {
  HexHash hex;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    hex[2 * i] = byte_digits[bytes[i]][0];
    hex[2 * i + 1] = byte_digits[bytes[i]][1];
  }
  return hex;
}

HexHash finish(EVP_MD_CTX* context) {
  std::array<unsigned char, 32> bytes{};
  require(EVP_DigestFinal_ex(context, bytes.data(), nullptr));
  return to_hex(bytes);
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const noexcept { EVP_MD_CTX_free(context); }

Sha256::Context Sha256::make_context() {
  Context context{EVP_MD_CTX_new()};
  if (!context) throw std::bad_alloc{};
  require(EVP_DigestInit_ex(context.get(), digest(), nullptr));
  return context;
}

Sha256::Sha256() : context_{make_context()}, copy_{make_context()} {}

// Without a digest the context restarts with its current one: no fetch, no allocation.
void Sha256::reset() { require(EVP_DigestInit_ex(context_.get(), nullptr, nullptr)); }

void Sha256::update(std::string_view bytes) {
  require(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

HexHash Sha256::hex() const {
  require(EVP_MD_CTX_copy_ex(copy_.get(), context_.get()));
  return finish(copy_.get());
}

HexHash Sha256::hash(std::string_view bytes) {
  reset();
  update(bytes);
  return finish(context_.get());
}

std::string sha256_text(std::string_view bytes) {
  return std::string{hash_text(Sha256{}.hash(bytes))};
}

bool is_sha256_of(std::string_view secret, std::string_view hash) {
  const HexHash own = Sha256{}.hash(secret);
  return hash.size() == own.size() && CRYPTO_memcmp(hash.data(), own.data(), own.size()) == 0;
}

}  // namespace stile
