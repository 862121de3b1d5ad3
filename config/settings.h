// Settings: stile.toml as plain structs. All defaults are defined here and only here.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acl/address.h"
#include "acl/git_push.h"
#include "acl/path_pattern.h"
#include "acl/pattern.h"
#include "acl/policy.h"

namespace stile::config {

using std::chrono::milliseconds;

// The place of a value, for messages: "file:line:column".
struct Place {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

// The place of a key that was set. The names are those of the schema, which live forever.
struct KeyPlace {
  std::string_view section, name;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend bool operator==(const KeyPlace&, const KeyPlace&) = default;
};
// Line 0: the key was not set.
[[nodiscard]] Place place_of(const std::string& file, const std::vector<KeyPlace>& keys,
                             std::string_view section, std::string_view name);

struct Endpoint {  // "127.0.0.1:3128", "[::1]:3128" or "unix:/run/x.sock"
  acl::Address address;
  std::uint16_t port = 0;
  std::string unix_path;  // not empty: a unix socket
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

struct ServerSettings {
  std::uint32_t workers = 0;  // 0: one per core
  std::vector<Endpoint> listen{{acl::Address::v4(0x7f000001), 3128, {}}};
  std::optional<Endpoint> metrics{{acl::Address::v4(0x7f000001), 9128, {}}};
  std::string control = "/run/stile/control.sock";
  std::string control_group = "stile-admin";
  std::string read_only_group;
  std::string user;
  std::string state_dir = "/var/lib/stile";
};

// One pattern with its line.
struct PlacedPattern {
  acl::Pattern pattern;
  std::uint32_t line = 0;
  friend bool operator==(const PlacedPattern& a, const PlacedPattern& b) {
    return a.line == b.line && a.pattern.text() == b.pattern.text();
  }
};

struct PrivateExceptionSettings {
  acl::Prefix prefix;
  std::vector<PlacedPattern> hosts;  // empty: every host
  friend bool operator==(const PrivateExceptionSettings&,
                         const PrivateExceptionSettings&) = default;
};

// `ech`: "refuse", "allow", or the hosts where it is allowed.
struct EchSetting {
  bool everywhere = false;
  std::vector<PlacedPattern> hosts;
  friend bool operator==(const EchSetting&, const EchSetting&) = default;
};

// Patterns of a fleet's policy; see fleet_layer.h.
struct FleetDeny {
  std::string file;
  std::vector<PlacedPattern> patterns;
};

// A grant of a fleet for one agent, on top of its entry wherever that comes from.
struct FleetGrant {
  std::string file, agent;
  std::vector<PlacedPattern> hosts;
  UnixMicros expires = 0;
};

// [egress]. A key that is set in an agent's entry replaces the value here, lists as a whole.
struct EgressSettings {
  acl::Mode mode = acl::Mode::enforce;
  std::vector<std::uint16_t> ports{443};
  std::vector<std::uint16_t> http_ports;
  bool check_sni = true;
  EchSetting ech;
  bool asks = false;              // unlisted = "ask"
  std::vector<std::string> scan;  // names of [[scan]] and of built-in sets
  std::vector<PrivateExceptionSettings> private_exceptions;
  std::vector<std::string> strip_request_headers{"Authorization", "Proxy-Authorization",
                                                 "X-Api-Key"};
  std::vector<PlacedPattern> deny;      // these three are added to every agent's
  std::vector<std::string> deny_files;  // and cannot be removed there
  std::vector<acl::Prefix> forbid_addresses;
  std::string contact;
  std::vector<FleetDeny> fleet_deny;  // added to `deny`
  std::vector<FleetGrant> fleet_grants;
};

struct DnsSettings {
  std::vector<Endpoint> servers;  // default port 53; empty: resolv.conf
  std::string hosts_file = "/etc/hosts";
  milliseconds timeout{2000};
  std::chrono::seconds max_ttl{300};
  std::uint32_t cache_entries = 65536;
  std::uint32_t in_flight_per_agent = 64;
};

struct LimitSettings {
  std::uint32_t connections_per_agent = 1024;
  std::uint32_t requests_per_second = 1000;
  std::uint32_t connections = 65536;
  std::uint32_t header_bytes = 65536;
  milliseconds header_timeout{10000};
  milliseconds client_hello_timeout{10000};
  milliseconds connect_timeout{10000};
  milliseconds ask_hold{10000};
  milliseconds idle_timeout{3600000};
  milliseconds drain_timeout{30000};
};

enum class AuditFormat : std::uint8_t { json, squid };

struct AuditSettings {
  std::string path = "-";
  AuditFormat format = AuditFormat::json;
  std::string lines;  // a logformat of squid.conf, for AuditFormat::squid; empty: its native one
  bool deny_on_failure = true;
  bool chain = true;
  std::uint64_t max_bytes = 0;
  std::uint32_t keep = 10;
};

struct AgentDirectorySettings {
  std::vector<std::string> directories{"/etc/stile/agents.d", "/run/stile/agents.d"};
  bool watch = false;
};

struct NetnsSettings {
  acl::Prefix subnet{acl::Address::v4(0x0ac80000), 16};
  acl::Address gateway = acl::Address::v4(0x0ac80001);
  std::uint16_t port = 3128;
  bool capture = true;
  acl::Prefix capture_subnet{acl::Address::v4(0xc6120000), 15};  // 198.18.0.0/15
  // Where the daemon accepts captured connections, on the gateway.
  [[nodiscard]] std::uint16_t capture_port() const noexcept {
    return static_cast<std::uint16_t>(port + 1);
  }
};

struct InterceptSettings {
  std::string ca = "/var/lib/stile/ca";  // a directory
  std::vector<std::string> trust;        // PEM files
};

// How stile-fleet joins this host to a fleet. The daemon itself does not use it.
struct FleetSettings {
  std::vector<std::string> endpoints;  // empty: no fleet
  std::string prefix = "/stile";
  std::string ca, cert, key;  // PEM files
  std::string user, password_file;
  std::vector<std::string> signers{"/etc/stile/fleet.pub"};
  std::string host;  // empty: the host name
  std::vector<std::string> labels;
  friend bool operator==(const FleetSettings&, const FleetSettings&) = default;
};

// One [[secret]]: where its value comes from, and where it may go.
struct SecretSettings {
  std::string name;
  Place place;
  std::string file, credential;      // one of these three is set
  std::vector<std::string> command;  // prints it
  std::chrono::seconds refresh{0};   // run the command again after this time; 0: never
  std::vector<PlacedPattern> hosts;
  std::vector<acl::PathPattern> paths;
  std::string header;
  std::string format = "{}";
  std::string basic_user;
  bool refuses_own = false;
  std::string agent_env;
  std::string placeholder;
  bool is_of_fleet = false;  // of a fleet's policy, not of this host's file
};

// One [[scan]]: what requests must not carry.
struct ScanSettings {
  std::string name;
  Place place;
  std::string pattern;  // RE2; only a built-in set has none
  bool only_logs = false;
};

// One [[agent.request]], or one request of a capability.
struct RequestSettings {
  PlacedPattern host;
  std::vector<std::string> methods{"GET", "HEAD"};
  std::vector<acl::PathPattern> paths;
  std::optional<std::uint64_t> max_body;
  bool websocket = false;
  std::vector<std::string> keep_headers;
  std::vector<std::string> queries;   // only of capabilities; empty: any
  bool plain_http = false;            // only of capabilities: http:// too
  bool graphql_query = false;         // only of capabilities: the body is one GraphQL query
  std::vector<acl::RefPattern> refs;  // only of capabilities: a git push to these
  friend bool operator==(const RequestSettings&, const RequestSettings&) = default;
};

// One [[agent.budget]].
struct BudgetSettings {
  PlacedPattern host;  // an exact name, without a port
  std::optional<std::uint64_t> requests_per_minute, max_requests, tokens;
  friend bool operator==(const BudgetSettings&, const BudgetSettings&) = default;
};

// One entry of `can`: a capability and its parameters, as they were written.
struct CanSettings {
  std::string text;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend bool operator==(const CanSettings&, const CanSettings&) = default;
};

// One [[agent]] or one card. An unset optional uses the value of [egress] or [limits].
struct AgentSettings {
  std::string id;
  std::string instance;
  Place place;
  std::vector<acl::Prefix> source;
  std::vector<PlacedPattern> allow, deny;
  std::vector<std::string> allow_files, deny_files;
  std::vector<acl::Address> allow_ip;
  std::vector<acl::Prefix> forbid_addresses;
  std::vector<Endpoint> listen;
  std::uint32_t listen_mode = 0660;   // of its unix sockets
  std::string listen_group;           // of its unix sockets; empty: not changed
  std::optional<UnixMicros> expires;  // from `expires` or `ttl_seconds`, always absolute
  std::optional<std::uint64_t> bytes_up, bytes_down;
  std::optional<std::uint64_t> bytes_up_slice;  // of a fleet's bytes_up; more may come
  std::optional<acl::Mode> mode;
  std::optional<std::vector<std::uint16_t>> ports, http_ports;
  std::optional<bool> check_sni;
  std::optional<EchSetting> ech;
  std::optional<bool> asks;
  std::optional<std::vector<std::string>> scan;
  std::optional<std::vector<PrivateExceptionSettings>> private_exceptions;
  std::optional<std::vector<std::string>> strip_request_headers;
  std::optional<std::string> contact;
  std::vector<std::string> secrets;
  std::vector<CanSettings> can;
  std::vector<RequestSettings> request;
  std::vector<BudgetSettings> budget;
  std::optional<std::uint32_t> connections_per_agent, requests_per_second;
  std::vector<KeyPlace> keys;  // in place.file
  friend bool operator==(const AgentSettings&, const AgentSettings&) = default;
};

// One [[agent]] of a fleet's policy, as a card.
struct FleetAgent {
  std::string file, card;
  UnixMicros not_after = 0;
  std::uint64_t slice_bytes = 0;      // this host's share of its `bytes_up`
  std::uint64_t exhausted_bytes = 0;  // no more of a budget of this size is left for it
};

struct Settings {
  ServerSettings server;
  EgressSettings egress;
  DnsSettings dns;
  LimitSettings limits;
  AuditSettings audit;
  AgentDirectorySettings agents;
  NetnsSettings netns;
  InterceptSettings intercept;
  FleetSettings fleet;
  std::vector<SecretSettings> secret;
  std::vector<ScanSettings> scan;
  std::vector<AgentSettings> agent;
  std::vector<FleetAgent> fleet_agents;
  std::string file;  // the source file; empty: the embedded default
  std::vector<KeyPlace> keys;
  // What the file calls a key, where that is another name: "server.listen" is http_port to squid.
  std::map<std::string, std::string> foreign_names;
};

}  // namespace stile::config
