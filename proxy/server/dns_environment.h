// DNS input for the resolvers: servers and hosts file, read and watched by the main thread.
#pragma once

#include <sys/stat.h>

#include <array>
#include <string>

#include "config/settings.h"
#include "proxy/dns/resolver.h"

namespace stile::server {

class DnsFiles {
 public:
  explicit DnsFiles(const config::DnsSettings& settings) : settings_{settings} {}
  [[nodiscard]] dns::Environment read();
  // True if a file that read() used looks different now.
  [[nodiscard]] bool changed() const;

 private:
  struct Stamp {
    bool exists = false;
    std::int64_t seconds = 0, nanoseconds = 0;
    std::uint64_t inode = 0, size = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  [[nodiscard]] static Stamp stamp(const std::string& path);

  config::DnsSettings settings_;
  std::array<Stamp, 2> seen_;
};

}  // namespace stile::server
