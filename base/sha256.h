// Sha256: SHA-256 as lower-case hex, with one reusable context.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // OpenSSL's; its headers stay in sha256.cc

namespace stile {

using HexHash = std::array<char, 64>;
inline constexpr HexHash zero_hash = [] {
  HexHash hash{};
  hash.fill('0');
  return hash;
}();
[[nodiscard]] inline std::string_view hash_text(const HexHash& hash) noexcept {
  return {hash.data(), hash.size()};
}

// Throws only if OpenSSL has no SHA-256 or no memory: the program cannot continue then.
class Sha256 {
 public:
  Sha256();
  void reset();
  void update(std::string_view bytes);
  [[nodiscard]] HexHash hex() const;  // of everything since reset; more can follow
  // Of these bytes alone; resets first.
  [[nodiscard]] HexHash hash(std::string_view bytes);

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const noexcept;
  };
  using Context = std::unique_ptr<evp_md_ctx_st, Free>;
  static Context make_context();
  Context context_;
  mutable Context copy_;  // hex() finishes a copy
};

// SHA-256 of these bytes in hex.
[[nodiscard]] std::string sha256_text(std::string_view bytes);

// Whether sha256_text(secret) is `hash`. Takes the same time wherever the two differ.
[[nodiscard]] bool is_sha256_of(std::string_view secret, std::string_view hash);

}  // namespace stile
