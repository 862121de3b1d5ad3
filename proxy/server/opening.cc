// Opening: the CA and the trust that tunnels are opened with, made once something needs them.
#include "proxy/server/opening.h"

#include <algorithm>
#include <utility>

#include "base/unix_time.h"

namespace stile::server {

bool Opening::is_needed(
    const std::vector<std::shared_ptr<const acl::AgentPolicy>>& agents) noexcept {
  return std::any_of(agents.begin(), agents.end(),
                     [](const auto& agent) { return agent->inside != nullptr; });
}

Result<void> Opening::open_authority(const config::InterceptSettings& settings) {
  if (authority_) return {};
  const std::int64_t now_s = unix_micros() / 1'000'000;
  auto opened = settings.ca.empty() ? intercept::CertificateAuthority::in_memory(now_s)
                                    : intercept::CertificateAuthority::open(settings.ca, now_s);
  if (!opened) return Error{"intercept.ca: " + opened.error().message};
  authority_ = std::make_shared<const intercept::CertificateAuthority>(std::move(*opened));
  return {};
}

Result<std::shared_ptr<const intercept::Interceptor>> Opening::make_interceptor(
    const config::InterceptSettings& settings) const {
  return intercept::Interceptor::make(authority_, settings.trust);
}

}  // namespace stile::server
