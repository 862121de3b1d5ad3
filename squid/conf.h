// Conf: a parsed squid.conf.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "acl/access_list.h"
#include "config/diagnostics.h"
#include "config/settings.h"
#include "squid/address_values.h"
#include "squid/domain_values.h"
#include "squid/files.h"
#include "squid/lines.h"

namespace stile::squid {

// One `acl`, all of its lines together.
struct Acl {
  explicit Acl(std::string acl_name, std::string acl_type, config::Place first)
      : name{std::move(acl_name)},
        type{std::move(acl_type)},
        place{std::move(first)},
        domains{place.file} {}

  std::string name, type;
  config::Place place;  // of its first line
  bool is_built_in = false;
  bool is_foreign = false;  // a type that only squid supports
  AddressValues addresses;
  DomainValues domains;
  // The same for printing: the values in squid.conf itself, and the files.
  std::vector<config::PlacedPattern> domain_patterns;
  std::vector<std::string> domain_files;
  std::vector<config::PlacedPattern> regexes;
  std::vector<std::pair<std::uint16_t, std::uint16_t>> ports;
  std::vector<std::string> methods;
};

struct AccessLine {
  struct Term {
    std::string acl;
    bool is_negated = false;
  };
  config::Place place;
  bool allows = false;
  std::vector<Term> terms;
  std::string text;  // as it was written
};

enum class LogStyle : std::uint8_t { none, squid, common, combined, custom };

struct Conf {
  std::string file;
  std::vector<Acl> acls;  // in the order of their first lines, after the built-in ones
  std::vector<AccessLine> access;
  std::vector<config::Endpoint> listen;
  std::string log_path = "/var/log/squid/access.log";
  LogStyle log_style = LogStyle::squid;
  std::string log_format;                   // of LogStyle::custom
  std::vector<std::string> denied_headers;  // as written
  std::vector<config::Endpoint> dns_servers;
  std::string hosts_file = "/etc/hosts";
  std::string pid_file = "/run/squid.pid";  // empty: none
  std::string user, group;
  std::string cache_log = "/var/log/squid/cache.log";  // for messages in the background
  bool adds_via = true;
  bool passes_forwarded_for = false;
  std::chrono::milliseconds connect_timeout{60'000};
  std::chrono::milliseconds shutdown_lifetime{30'000};
  // Comment lines `# stile: …`.
  bool checks_sni = true;
  bool literals_pass = false;
  config::Place literals_place;  // of the line that sets it
  std::vector<config::PrivateExceptionSettings> private_exceptions;
  std::optional<config::Endpoint> metrics;

  std::vector<std::string> notes;  // accepted directives without effect, each reported once
  config::Diagnostics warnings;

  [[nodiscard]] const Acl* find(std::string_view name) const;
};

// Reads a squid.conf and all files that it includes, or returns all errors.
[[nodiscard]] config::Checked<Conf> parse(const std::string& file, const Files& files);

}  // namespace stile::squid
