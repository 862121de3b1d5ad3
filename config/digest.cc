// Digest: SHA-256 over everything that was read.
#include "config/digest.h"

#include <openssl/evp.h>

#include <array>
#include <new>

namespace stile::config {

struct Digest::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() {
    if (context == nullptr || EVP_DigestInit_ex(context, EVP_sha256(), nullptr) != 1) {
      throw std::bad_alloc{};
    }
  }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void update(std::string_view bytes) { EVP_DigestUpdate(context, bytes.data(), bytes.size()); }
};

Digest::Digest() : state_{std::make_unique<State>()} {}
Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;

void Digest::add(std::string_view file, std::string_view content) {
  for (const auto part : {file, content}) {
    state_->update(std::to_string(part.size()) + ':');
    state_->update(part);
  }
}

std::string Digest::finish() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned length = 0;
  EVP_DigestFinal_ex(state_->context, bytes.data(), &length);
  std::string hex;
  for (unsigned i = 0; i < length; ++i) {
    hex += digits[bytes[i] >> 4U];
    hex += digits[bytes[i] & 15U];
  }
  return hex;
}

}  // namespace stile::config
