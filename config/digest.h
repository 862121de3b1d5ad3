// Digest: SHA-256 over everything that was read, so that an audit log names the policy it began
// with.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace stile::config {

class Digest {
 public:
  Digest();
  ~Digest();
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;

  // Name and content go in with their lengths: moving bytes from one file to the next is a change.
  void add(std::string_view file, std::string_view content);
  // Lower-case hex. Nothing can be added afterwards.
  [[nodiscard]] std::string finish();

 private:
  struct State;  // keeps OpenSSL's headers out of everything else
  std::unique_ptr<State> state_;
};

}  // namespace stile::config
