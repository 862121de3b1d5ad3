// Schema: the one table of keys.
#include "config/schema.h"

#include <algorithm>
#include <array>
#include <optional>

#include "config/fields.h"
#include "config/fleet_values.h"
#include "config/inside_values.h"
#include "config/list_values.h"
#include "config/values.h"

namespace stile::config {
namespace {

constexpr std::int64_t day_ms = 86'400'000;

// `Values` is the kind of value; see values.h.
template <auto Part, auto Field, class Values>
constexpr Key<Settings> key(std::string_view section, std::string_view name,
                            std::string_view help) {
  return {section,
          name,
          Values::type,
          help,
          [](const Node& node, const Reader& reader, Settings& settings) {
            if (auto value = Values::read(node, reader)) {
              (settings.*Part).*Field = std::move(*value);
            }
          },
          [](const Settings& settings) { return Values::print((settings.*Part).*Field); }};
}

template <class Values, class T>
std::string print_if_set(const T& value) {
  return Values::print(value);
}
template <class Values, class T>
std::string print_if_set(const std::optional<T>& value) {
  return value ? Values::print(*value) : "";
}

// Of a struct that is one entry: an agent, a secret, a scan.
template <auto Field, class Values, class Owner = decltype(owner_of(Field))>
constexpr Key<Owner> entry_key(std::string_view section, std::string_view name,
                               std::string_view help) {
  return {section,
          name,
          Values::type,
          help,
          [](const Node& node, const Reader& reader, Owner& owner) {
            if (auto value = Values::read(node, reader)) owner.*Field = std::move(*value);
          },
          [](const Owner& owner) { return print_if_set<Values>(owner.*Field); }};
}
template <auto Field, class Values>
constexpr auto agent_key(std::string_view name, std::string_view help) {
  return entry_key<Field, Values>("agent", name, help);
}
template <auto Field, class Values>
constexpr auto secret_key(std::string_view name, std::string_view help) {
  return entry_key<Field, Values>("secret", name, help);
}
template <auto Field, class Values>
constexpr auto scan_key(std::string_view name, std::string_view help) {
  return entry_key<Field, Values>("scan", name, help);
}

template <auto Field, class Values>
constexpr Key<Settings> server(std::string_view name, std::string_view help) {
  return key<&Settings::server, Field, Values>("server", name, help);
}
template <auto Field, class Values>
constexpr Key<Settings> egress(std::string_view name, std::string_view help) {
  return key<&Settings::egress, Field, Values>("egress", name, help);
}
template <auto Field, class Values>
constexpr Key<Settings> dns(std::string_view name, std::string_view help) {
  return key<&Settings::dns, Field, Values>("dns", name, help);
}
template <auto Field, class Values>
constexpr Key<Settings> limits(std::string_view name, std::string_view help) {
  return key<&Settings::limits, Field, Values>("limits", name, help);
}
template <auto Field, class Values>
constexpr Key<Settings> audit(std::string_view name, std::string_view help) {
  return key<&Settings::audit, Field, Values>("audit", name, help);
}
template <auto Field, class Values>
constexpr Key<Settings> agents(std::string_view name, std::string_view help) {
  return key<&Settings::agents, Field, Values>("agents", name, help);
}
template <auto Field, class Values>
constexpr Key<Settings> netns(std::string_view name, std::string_view help) {
  return key<&Settings::netns, Field, Values>("netns", name, help);
}

template <auto Field, class Values>
constexpr Key<Settings> intercept(std::string_view name, std::string_view help) {
  return key<&Settings::intercept, Field, Values>("intercept", name, help);
}

template <auto Field, class Values>
constexpr Key<Settings> fleet(std::string_view name, std::string_view help) {
  return key<&Settings::fleet, Field, Values>("fleet", name, help);
}

template <class Owner>
constexpr Key<Owner> restart(Key<Owner> key) {
  key.applies = Applies::restart;
  return key;
}

constexpr std::array all_sections{
    Section{"server", "Where the daemon listens and what it runs as."},
    Section{"egress",
            "Defaults for all agents. The same key in an agent's entry replaces the value "
            "here, lists as a whole; `deny`, `deny_files` and `forbid_addresses` are added "
            "to every agent's own and cannot be undone there."},
    Section{"dns", "How names are resolved."},
    Section{"limits",
            "Limits. `connections_per_agent` and `requests_per_second` can also be set in an "
            "agent's entry."},
    Section{"audit", "The log of everything that was let through or refused."},
    Section{"agents", "Where agent cards are read from."},
    Section{"netns", "The network of the namespaces that `stile-netns` makes."},
    Section{
        "intercept",
        "The TLS of hosts that are opened, because an agent has a `can` or `request` entry or a "
        "secret for them. All other tunnels stay TLS from end to end. See "
        "[inside-tls.md](inside-tls.md)."},
    Section{"fleet",
            "Joins this host to a fleet, whose signed policy is stored in an etcd cluster. Used by "
            "`stile-fleet` and `stile fleet`, not by the daemon; `stile-fleet` follows a change "
            "within seconds. See [fleet.md](fleet.md)."},
};

using Server = ServerSettings;
using Egress = EgressSettings;
using Dns = DnsSettings;
using Limits = LimitSettings;
using Audit = AuditSettings;
using Agents = AgentDirectorySettings;
using Netns = NetnsSettings;
using Intercept = InterceptSettings;
using Fleet = FleetSettings;
using Secret = SecretSettings;
using Agent = AgentSettings;
using Milliseconds = Count<milliseconds, 1, day_ms>;

constexpr std::array all_global_keys{
    restart(server<&Server::workers, Integer<0, 1024>>(
        "workers", "Number of worker threads; 0: one per core.")),
    restart(server<&Server::listen, List<ListenElement>>(
        "listen",
        "Addresses of the proxy, for agents that are identified by their source address.")),
    restart(server<&Server::metrics, OptionalEndpoint>(
        "metrics", "Address of /metrics, /healthz and /readyz; \"\": off.")),
    restart(server<&Server::control, Path>("control", "Path of the control socket.")),
    restart(server<&Server::control_group, Text>(
        "control_group",
        "Members of this group may use the control socket; \"\": the daemon's own group. A group "
        "that does not exist is an error.")),
    restart(server<&Server::read_only_group, Text>(
        "read_only_group",
        "Members of this group may look and change nothing, through `read.sock` beside the control "
        "socket; \"\": no such socket.")),
    restart(server<&Server::user, Text>("user",
                                        "When started as root: change to this user after binding; "
                                        "\"\": stay, without capabilities.")),
    restart(server<&Server::state_dir, Path>(
        "state_dir", "Directory for grants, modes, budgets and the head of the audit log.")),

    egress<&Egress::mode, ModeWord>(
        "mode",
        "`observe` logs what would have been refused and lets it through; `offline` refuses "
        "everything, for every agent."),
    egress<&Egress::ports, List<PortElement>>("ports", "Ports that tunnels (CONNECT) may go to."),
    egress<&Egress::http_ports, List<PortElement>>("http_ports",
                                                   "Ports that plain HTTP may go to."),
    egress<&Egress::check_sni, SniWord>(
        "sni", "`match`: a tunnel must begin with a TLS ClientHello for the host of its CONNECT."),
    egress<&Egress::ech, EchValue>(
        "ech",
        "TLS hellos with the ECH extension, which may hide another server name and which Chromium "
        "always sends: refused, allowed, or allowed for the hosts of a list."),
    egress<&Egress::asks, UnlistedWord>(
        "unlisted",
        "`ask`: hold a request that no rule allows, and ask a person. See [asks.md](asks.md)."),
    egress<&Egress::scan, List<SecretNameElement>>(
        "scan",
        "What requests must not contain, in plain HTTP and to opened hosts: names of [[scan]] and "
        "of the built-in sets `tokens`, `private-keys`, `payment`, `wallets`. See "
        "[scans.md](scans.md)."),
    egress<&Egress::private_exceptions, List<ExceptionElement>>(
        "private_exceptions",
        "Addresses that may be dialled although they are not global: `\"10.100.1.0/24\"`, or "
        "`{prefix = \"10.100.1.0/24\", hosts = [\"db.example.com\"]}` for these hosts only. "
        "Loopback, link-local and the netns subnet only as exact addresses."),
    egress<&Egress::strip_request_headers, List<HeaderNameElement>>(
        "strip_request_headers",
        "Headers that are not passed on, in plain HTTP and to opened hosts."),
    egress<&Egress::deny, List<PatternElement>>("deny", "Names that no agent may reach."),
    egress<&Egress::deny_files, List<PathElement>>("deny_files", "List files of such names."),
    egress<&Egress::forbid_addresses, List<PrefixElement>>(
        "forbid_addresses", "Addresses that are never dialled, whatever name resolves to them."),
    egress<&Egress::contact, Text>("contact", "Whom to ask for access; shown in refusals."),

    dns<&Dns::servers, List<DnsServerElement>>(
        "servers", "DNS servers, by default on port 53; empty: those of /etc/resolv.conf."),
    dns<&Dns::hosts_file, Path>("hosts_file", "Read before a DNS server is asked."),
    dns<&Dns::timeout, Milliseconds>("timeout_ms", "Time for a whole look-up."),
    dns<&Dns::max_ttl, Count<std::chrono::seconds, 0, 86'400>>(
        "max_ttl_seconds", "Longest time that an answer is cached."),
    dns<&Dns::cache_entries, Integer<0, 16'777'216>>("cache_entries", "Names in the cache."),
    dns<&Dns::in_flight_per_agent, Integer<1, 65'536>>("in_flight_per_agent",
                                                       "Look-ups of one agent at the same time."),

    limits<&Limits::connections_per_agent, Integer<1, 1'000'000>>(
        "connections_per_agent",
        "Open connections of one agent; further ones get 429 and are closed."),
    limits<&Limits::requests_per_second, Integer<0, 1'000'000>>(
        "requests_per_second",
        "Requests of one agent; above, Stile reads its connections more slowly. 0: no limit."),
    limits<&Limits::connections, Integer<1, 16'777'216>>(
        "connections", "Open connections of all agents together."),
    limits<&Limits::header_bytes, Integer<1'024, 1'048'576>>(
        "header_bytes",
        "Size of a request head, of a response head, of trailers, and of all 1xx responses "
        "together."),
    limits<&Limits::header_timeout, Milliseconds>(
        "header_timeout_ms",
        "From accept, or the end of the last response, to the end of the request head."),
    limits<&Limits::client_hello_timeout, Milliseconds>(
        "client_hello_timeout_ms", "From the answer to CONNECT to the end of the ClientHello."),
    limits<&Limits::connect_timeout, Milliseconds>("connect_timeout_ms",
                                                   "Time to connect to an origin."),
    limits<&Limits::ask_hold, Milliseconds>(
        "ask_hold_ms", "Time that a request is held while a person is asked about it."),
    limits<&Limits::idle_timeout, Count<milliseconds, 1, 30 * day_ms>>(
        "idle_timeout_ms",
        "Time after which a tunnel or request is closed in which nothing moves in either "
        "direction."),
    limits<&Limits::drain_timeout, Milliseconds>(
        "drain_timeout_ms", "Time that open connections have to end after SIGTERM."),

    restart(audit<&Audit::path, PathOrDash>("path", "Path of the log; `-` is standard output.")),
    restart(audit<&Audit::format, AuditFormatWord>("format",
                                                   "`squid`: lines as in squid's access.log.")),
    audit<&Audit::deny_on_failure, OnFailureWord>(
        "on_failure",
        "If a line cannot be written: `deny` refuses requests, `continue` lets them through."),
    restart(audit<&Audit::chain, Boolean>("chain", "Each line has the hash of the line before.")),
    audit<&Audit::max_bytes, Size>("max_bytes", "Rotate the file at this size; 0: never."),
    audit<&Audit::keep, Integer<0, 10'000>>("keep", "Rotated files to keep."),

    agents<&Agents::directories, List<PathElement>>(
        "directories",
        "Directories whose *.json files are agent cards, read in this order. They may be missing."),
    agents<&Agents::watch, Boolean>("watch",
                                    "Read cards again when they change, without a reload."),

    netns<&Netns::subnet, SubnetValue>("subnet", "Addresses for agents."),
    netns<&Netns::gateway, AddressValue>("gateway", "Address of the proxy for these agents."),
    netns<&Netns::port, Port>("port", "Port of the proxy there."),
    restart(netns<&Netns::capture, Boolean>(
        "capture",
        "Programs that know no proxy reach allowed names, too: see [capture.md](capture.md). The "
        "daemon accepts their connections on the port above `port`.")),
    restart(netns<&Netns::capture_subnet, SubnetValue>(
        "capture_subnet",
        "The addresses that stand for names; nothing else on this host may use them.")),

    restart(intercept<&Intercept::ca, PathOrNone>(
        "ca",
        "Directory of the CA that signs for opened hosts: `ca.pem` and `ca.key`, made at the first "
        "start; \"\": a CA in memory, new at each start.")),
    intercept<&Intercept::trust, List<PathElement>>(
        "trust", "PEM files with more roots for the certificates of origins."),

    fleet<&Fleet::endpoints, List<StoreElement>>(
        "endpoints", "The etcd cluster, such as `\"https://etcd-1:2379\"`; empty: no fleet."),
    fleet<&Fleet::prefix, StorePrefix>("prefix", "Prefix of all keys in the cluster."),
    fleet<&Fleet::ca, PathOrNone>(
        "ca", "PEM file with the roots for the certificates of etcd; \"\": those of the system."),
    fleet<&Fleet::cert, PathOrNone>("cert", "PEM file with the client certificate for etcd."),
    fleet<&Fleet::key, PathOrNone>("key", "PEM file with its key."),
    fleet<&Fleet::user, Text>("user", "User of etcd, in place of a certificate."),
    fleet<&Fleet::password_file, PathOrNone>("password_file",
                                             "File with the password of that user."),
    fleet<&Fleet::signers, List<PathElement>>(
        "signers", "PEM files with the Ed25519 keys whose signatures are accepted."),
    fleet<&Fleet::host, HostOrNone>("host", "The name of this host; \"\": its host name."),
    fleet<&Fleet::labels, List<LabelElement>>(
        "labels", "Labels of this host: policies and the switch can be for hosts with a label."),
};

constexpr std::array all_agent_keys{
    agent_key<&Agent::id, AgentId>("id", "1 to 64 of a-z, 0-9 and -; required."),
    agent_key<&Agent::source, List<SourceElement>>(
        "source", "Connections from these addresses are this agent; the longest prefix wins."),
    restart(agent_key<&Agent::listen, List<AgentListenElement>>(
        "listen", "Listeners of its own: every connection there is this agent.")),
    restart(
        agent_key<&Agent::listen_mode, FileMode>("listen_mode",
                                                 "Mode of its unix sockets: every process that may "
                                                 "write to one can connect as this agent.")),
    restart(agent_key<&Agent::listen_group, Text>(
        "listen_group",
        "Group of its unix sockets; \"\": the group that the daemon was started with. A group that "
        "does not exist is an error.")),
    agent_key<&Agent::allow, List<PatternElement>>("allow",
                                                   "Names that it may reach; empty: none."),
    agent_key<&Agent::allow_files, List<PathElement>>("allow_files", "List files of such names."),
    agent_key<&Agent::deny, List<PatternElement>>("deny",
                                                  "Names that it may not reach; wins over allow."),
    agent_key<&Agent::deny_files, List<PathElement>>("deny_files", "List files of such names."),
    agent_key<&Agent::allow_ip, List<AddressElement>>(
        "allow_ip", "IP addresses that it may request in place of a name."),
    agent_key<&Agent::forbid_addresses, List<PrefixElement>>(
        "forbid_addresses", "Addresses that are never dialled for it."),
    agent_key<&Agent::expires, Expiry>("expires", "From this time on, every request is refused."),
    agent_key<&Agent::bytes_up, Budget>("bytes_up",
                                        "Budget of bytes sent to origins; \"\": no limit."),
    agent_key<&Agent::bytes_down, Budget>("bytes_down",
                                          "Budget of bytes received from origins; \"\": no limit."),
    agent_key<&Agent::mode, ModeWord>("mode", "As in [egress]; `offline` there is for all agents."),
    agent_key<&Agent::ports, List<PortElement>>("ports", "As in [egress]."),
    agent_key<&Agent::http_ports, List<PortElement>>("http_ports", "As in [egress]."),
    agent_key<&Agent::check_sni, SniWord>("sni", "As in [egress]."),
    agent_key<&Agent::ech, EchValue>("ech", "As in [egress]."),
    agent_key<&Agent::asks, UnlistedWord>("unlisted", "As in [egress]."),
    agent_key<&Agent::scan, List<SecretNameElement>>("scan", "As in [egress]."),
    agent_key<&Agent::private_exceptions, List<ExceptionElement>>("private_exceptions",
                                                                  "As in [egress]."),
    agent_key<&Agent::strip_request_headers, List<HeaderNameElement>>("strip_request_headers",
                                                                      "As in [egress]."),
    agent_key<&Agent::contact, Text>("contact", "As in [egress]."),
    agent_key<&Agent::secrets, List<SecretNameElement>>(
        "secrets", "Names of the [[secret]] entries that Stile puts into its requests."),
    agent_key<&Agent::can, List<CanElement>>(
        "can",
        "Capabilities, such as `\"github:read acme/app\"`: named sets of requests. Their hosts are "
        "allowed for these requests and no others. `stile can` lists them; see "
        "[capabilities.md](capabilities.md)."),
    agent_key<&Agent::request, List<RequestElement>>(
        "request",
        "What it may do on a host, as [[agent.request]]: `host`, `methods` (`[\"GET\", "
        "\"HEAD\"]` by default, `[\"*\"]` any), `paths` (default: any), `max_body`, "
        "`websocket`, `keep_headers`. The host is allowed for these requests and no others."),
    agent_key<&Agent::budget, List<BudgetElement>>(
        "budget",
        "How much it may use of an opened host, as [[agent.budget]]: `host`, and one or more of "
        "`max_requests`, `requests_per_minute` and `tokens` (those that the answers of a model's "
        "API report). See [budgets.md](budgets.md)."),
    agent_key<&Agent::connections_per_agent, Integer<1, 1'000'000>>("connections_per_agent",
                                                                    "As in [limits]."),
    agent_key<&Agent::requests_per_second, Integer<0, 1'000'000>>("requests_per_second",
                                                                  "As in [limits]."),
};

constexpr std::array all_secret_keys{
    secret_key<&Secret::name, SecretName>("name", "1 to 64 of a-z, 0-9 and -; required."),
    secret_key<&Secret::file, PathOrNone>(
        "file", "File with the value. A change is noticed within seconds."),
    secret_key<&Secret::credential, Text>(
        "credential", "Or the name of a credential of systemd's `LoadCredential`."),
    restart(secret_key<&Secret::command, List<CommandWordElement>>(
        "command",
        "Or a program that prints the value, with its arguments, run by a process beside the "
        "daemon.")),
    secret_key<&Secret::refresh, Count<std::chrono::seconds, 0, 31'536'000>>(
        "refresh_seconds",
        "Run the command again after this time; 0: only at the start. If it fails, the old value "
        "is "
        "used for the same time again."),
    secret_key<&Secret::hosts, List<SecretHostElement>>(
        "hosts", "Hosts that may receive it: names or `*.below`, with or without a port."),
    secret_key<&Secret::paths, List<PathPatternElement>>("paths",
                                                         "Only these paths receive it; []: all."),
    secret_key<&Secret::header, HeaderName>(
        "header", "Header that Stile sets, whatever the agent sent; required."),
    secret_key<&Secret::format, SecretFormat>(
        "format", "Value of the header; `{}` is replaced by the secret."),
    secret_key<&Secret::basic_user, Text>(
        "basic_user", "Send the secret as the password of this user (HTTP Basic)."),
    secret_key<&Secret::refuses_own, OwnWord>(
        "own",
        "A credential of the agent's own on these hosts: dropped, or the request is refused."),
    secret_key<&Secret::agent_env, Text>("agent_env",
                                         "Variable that holds the placeholder for the agent."),
    secret_key<&Secret::placeholder, Text>(
        "placeholder",
        "What the agent gets instead of the value; \"\": one is made for each agent."),
};

constexpr std::array all_scan_keys{
    scan_key<&ScanSettings::name, SecretName>(
        "name",
        "1 to 64 of a-z, 0-9 and -; required. The name of a built-in set changes its action."),
    scan_key<&ScanSettings::pattern, ScanPattern>(
        "pattern",
        "Regular expression (syntax of re2) that is searched anywhere in a request; required, "
        "except for a built-in set."),
    scan_key<&ScanSettings::only_logs, ScanAction>("action",
                                                   "`log` only logs what was found, for a trial."),
};

constexpr std::array all_card_keys{
    CardKey{"agent_id", "id", ""},
    CardKey{"allowed_hosts", "allow", ""},
    CardKey{"denied_hosts", "deny", ""},
    CardKey{
        "ttl_seconds", "",
        "Lifetime of the agent, from `created`, else from the file's last change, for `put-agent` "
        "from its receipt; 0: no limit. With `expires` too, the earlier end applies."},
    CardKey{"created", "", "Start of `ttl_seconds`: a date and time like 2026-11-16T09:00:00Z."},
    CardKey{"instance", "",
            "Distinguishes agents that have this id one after the other. When it changes, "
            "connections, grants and budgets of the earlier one end."},
};

constexpr std::array<std::string_view, 10> all_launcher_keys{
    "workspace", "command", "environment", "api_provider",    "api_key_file",
    "read",      "write",   "tags",        "resource_limits", "proxy",
};

}  // namespace

std::span<const Section> sections() noexcept { return all_sections; }
std::span<const Key<Settings>> global_keys() noexcept { return all_global_keys; }
std::span<const Key<AgentSettings>> agent_keys() noexcept { return all_agent_keys; }
std::span<const Key<SecretSettings>> secret_keys() noexcept { return all_secret_keys; }
std::span<const Key<ScanSettings>> scan_keys() noexcept { return all_scan_keys; }
const Key<Settings>* find_key(std::string_view section, std::string_view name) noexcept {
  const auto* const found = std::find_if(
      all_global_keys.begin(), all_global_keys.end(),
      [&](const Key<Settings>& key) { return key.section == section && key.name == name; });
  return found == all_global_keys.end() ? nullptr : found;
}
std::vector<std::string_view> key_names(std::string_view section) {
  std::vector<std::string_view> names;
  for (const auto& key : all_global_keys) {
    if (key.section == section) names.push_back(key.name);
  }
  return names;
}
std::span<const CardKey> card_keys() noexcept { return all_card_keys; }
std::span<const std::string_view> launcher_keys() noexcept { return all_launcher_keys; }

}  // namespace stile::config
