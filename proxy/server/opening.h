// Opening: the CA and the trust that tunnels are opened with, made once something needs them.
#pragma once

#include <memory>
#include <vector>

#include "acl/policy.h"
#include "base/result.h"
#include "config/settings.h"
#include "proxy/intercept/interceptor.h"

namespace stile::server {

class Opening {
 public:
  // Whether any agent has hosts that are opened.
  [[nodiscard]] static bool is_needed(
      const std::vector<std::shared_ptr<const acl::AgentPolicy>>& agents) noexcept;

  // Opens or makes the CA; does nothing if that was done before.
  Result<void> open_authority(const config::InterceptSettings& settings);
  [[nodiscard]] const intercept::CertificateAuthority* authority() const noexcept {
    return authority_.get();
  }
  // With the files of `trust` as they are now. The authority must be open.
  [[nodiscard]] Result<std::shared_ptr<const intercept::Interceptor>> make_interceptor(
      const config::InterceptSettings& settings) const;

 private:
  std::shared_ptr<const intercept::CertificateAuthority> authority_;
};

}  // namespace stile::server
