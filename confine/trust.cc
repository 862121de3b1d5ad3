// trust: makes a confined command trust the CA of Stile, as well as what the host trusts.
#include "confine/trust.h"

#include <fcntl.h>

#include <array>
#include <filesystem>

#include "base/base64.h"
#include "base/ca_bundle.h"
#include "base/files.h"
#include "base/unique_fd.h"
#include "confine/java_store.h"

namespace stile::confine {
namespace {

constexpr std::size_t max_bundle_bytes = 8U << 20U;
constexpr std::string_view ca_directory = "/run/stile-ca";
constexpr std::string_view begin_mark = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view end_mark = "-----END CERTIFICATE-----";

// Programs that add this file to roots of their own, and programs that read no other roots.
constexpr std::array<std::string_view, 2> extra_variables{"NODE_EXTRA_CA_CERTS", "DENO_CERT"};
constexpr std::array<std::string_view, 7> bundle_variables{
    "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO",
    "PIP_CERT",      "AWS_CA_BUNDLE",  "CARGO_HTTP_CAINFO"};
constexpr std::string_view java_variable = "JAVA_TOOL_OPTIONS";

std::string_view value_of(std::string_view name, std::span<const std::string> given) {
  for (const std::string_view variable : given) {
    if (variable.size() > name.size() && variable.starts_with(name) &&
        variable[name.size()] == '=') {
      return variable.substr(name.size() + 1);
    }
  }
  return {};
}

// The certificates of a text and nothing else of it, each as PEM.
std::vector<std::string> certificates_in(std::string_view text) {
  std::vector<std::string> found;
  for (std::size_t at = 0; (at = text.find(begin_mark, at)) != std::string_view::npos;) {
    const std::size_t end = text.find(end_mark, at);
    if (end == std::string_view::npos) break;
    found.push_back(std::string{text.substr(at, end + end_mark.size() - at)} + '\n');
    at = end;
  }
  return found;
}

std::string only_certificates(std::string_view text) {
  std::string all;
  for (const auto& one : certificates_in(text)) all += one;
  return all;
}

std::string certificates_of_file(std::string_view path) {
  if (!path.starts_with('/')) return {};
  const UniqueFd file{::open(std::string{path}.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  if (!file) return {};
  const auto text = read_all(file.get(), max_bundle_bytes);
  return text ? only_certificates(*text) : std::string{};
}

std::string java_store_of(std::string_view bundle) {
  std::vector<std::string> certificates;
  for (const std::string_view pem : certificates_in(bundle)) {
    const auto inner =
        pem.substr(begin_mark.size(), pem.size() - begin_mark.size() - end_mark.size() - 1);
    if (auto der = from_base64(inner)) certificates.push_back(std::move(*der));
  }
  return java_trust_store(certificates);
}

std::string java_options(std::string_view proxy, const std::string& store) {
  const auto authority = proxy.substr(proxy.rfind('/') + 1);
  const auto colon = authority.rfind(':');
  std::string options;
  for (const std::string scheme : {"http", "https"}) {
    options += "-D" + scheme + ".proxyHost=" + std::string{authority.substr(0, colon)} + " -D" +
               scheme + ".proxyPort=" + std::string{authority.substr(colon + 1)} + ' ';
  }
  return options +
         "-Dhttp.nonProxyHosts=localhost|127.*|[::1] -Djavax.net.ssl.trustStore=" + store +
         " -Djavax.net.ssl.trustStoreType=PKCS12";
}

}  // namespace

TrustSources read_trust(std::string ca, std::span<const std::string> given) {
  TrustSources sources;
  sources.ca = only_certificates(ca);
  if (sources.ca.empty()) return sources;
  if (const auto bundle = system_ca_bundle(); !bundle.empty()) {
    std::error_code failed;
    sources.bundle_path = std::filesystem::canonical(bundle, failed).string();
    sources.bundle = certificates_of_file(bundle);
  }
  for (const auto name : bundle_variables) {
    auto more = certificates_of_file(value_of(name, given));
    if (sources.bundle.find(more) == std::string::npos) sources.bundle += more;
  }
  sources.node_extra = certificates_of_file(value_of(extra_variables[0], given));
  return sources;
}

TrustPlan plan_trust(const TrustSources& sources, std::span<const std::string> given,
                     std::string_view proxy) {
  TrustPlan plan;
  if (sources.ca.empty()) return plan;
  const auto bundle = sources.bundle + sources.ca;
  const auto path = [](std::string_view name) { return std::string{ca_directory}.append(name); };
  plan.files.directory = ca_directory;
  plan.files.files = {{"ca.pem", sources.node_extra + sources.ca, {}},
                      {"bundle.pem", bundle, sources.bundle_path},
                      {"java.p12", java_store_of(bundle), {}}};
  for (const auto name : extra_variables) {
    plan.variables.push_back(std::string{name} + '=' + path("/ca.pem"));
  }
  for (const auto name : bundle_variables) {
    plan.variables.push_back(std::string{name} + '=' + path("/bundle.pem"));
  }
  std::string java{value_of(java_variable, given)};
  if (!java.empty()) java += ' ';
  plan.variables.push_back(std::string{java_variable} + '=' + java +
                           java_options(proxy, path("/java.p12")));
  return plan;
}

}  // namespace stile::confine
