// The directives of squid.conf that are ignored, and why that is safe.
#include "squid/directives.h"

#include <algorithm>

#include "base/nearest.h"

namespace stile::squid {
namespace {

constexpr std::string_view understood[] = {
    "acl",
    "access_log",
    "cache_effective_group",
    "cache_effective_user",
    "cache_log",
    "connect_timeout",
    "dns_nameservers",
    "forwarded_for",
    "hosts_file",
    "http_access",
    "http_port",
    "include",
    "logformat",
    "pid_filename",
    "request_header_access",
    "shutdown_lifetime",
    "strip_query_terms",
    "via",
    "visible_hostname",
};

constexpr std::string_view caching[] = {
    "cache",
    "cache_dir",
    "cache_mem",
    "cache_miss_revalidate",
    "cache_replacement_policy",
    "cache_store_log",
    "cache_swap_high",
    "cache_swap_low",
    "cache_swap_state",
    "collapsed_forwarding",
    "collapsed_forwarding_access",
    "digest_bits_per_entry",
    "digest_generation",
    "digest_rebuild_chunk_percentage",
    "digest_rebuild_period",
    "digest_rewrite_period",
    "digest_swapout_chunk_size",
    "max_open_disk_fds",
    "max_stale",
    "maximum_object_size",
    "maximum_object_size_in_memory",
    "memory_cache_mode",
    "memory_cache_shared",
    "memory_replacement_policy",
    "minimum_expiry_time",
    "minimum_object_size",
    "negative_ttl",
    "offline_mode",
    "quick_abort_max",
    "quick_abort_min",
    "quick_abort_pct",
    "range_offset_limit",
    "read_ahead_gap",
    "refresh_all_ims",
    "refresh_pattern",
    "reload_into_ims",
    "send_hit",
    "shared_transient_entries_limit",
    "store_avg_object_size",
    "store_dir_select_algorithm",
    "store_miss",
    "store_objects_per_bucket",
    "vary_ignore_expire",
};

constexpr std::string_view tuning[] = {
    "allow_underscore",
    "buffered_logs",

    "cache_mgr",
    "check_hostnames",
    "client_db",
    "client_idle_pconn_timeout",
    "client_lifetime",
    "client_persistent_connections",
    "connect_retries",
    "coredump_dir",
    "cpu_affinity_map",
    "debug_options",
    "deny_info",
    "detect_broken_pconn",
    "dns_defnames",
    "dns_packet_max",
    "dns_retransmit_interval",
    "dns_timeout",
    "dns_v4_first",
    "email_err_data",
    "err_html_text",
    "err_page_stylesheet",
    "error_default_language",
    "error_directory",
    "error_log_languages",
    "eui_lookup",
    "forward_max_tries",
    "forward_timeout",
    "fqdncache_size",
    "half_closed_clients",
    "happy_eyeballs_connect_gap",
    "happy_eyeballs_connect_limit",
    "happy_eyeballs_connect_timeout",
    "high_memory_warning",
    "high_page_fault_warning",
    "high_response_time_warning",
    "hopeless_kid_revival_delay",
    "httpd_suppress_version_string",
    "icon_directory",
    "ignore_unknown_nameservers",
    "ipcache_high",
    "ipcache_low",
    "ipcache_size",
    "log_mime_hdrs",
    "logfile_daemon",
    "logfile_rotate",
    "mail_from",
    "mail_program",
    "max_filedescriptors",
    "memory_pools",
    "memory_pools_limit",
    "mime_table",
    "negative_dns_ttl",
    "netdb_filename",
    "nonhierarchical_direct",
    "prefer_direct",
    "pconn_lifetime",
    "persistent_connection_after_error",
    "pinger_enable",
    "pinger_program",
    "pipeline_prefetch",
    "positive_dns_ttl",
    "read_timeout",
    "request_start_timeout",
    "request_timeout",
    "retry_on_error",
    "server_idle_pconn_timeout",
    "server_pconn_for_nonretriable",
    "server_persistent_connections",
    "shared_memory_locking",
    "short_icon_urls",
    "sleep_after_fork",
    "stats_collection",
    "tcp_recv_bufsize",
    "umask",
    "unique_hostname",
    "unlinkd_program",
    "workers",
    "write_timeout",
};

constexpr std::string_view if_allow_all[] = {"adapted_http_access", "always_direct",
                                             "http_reply_access", "miss_access"};
constexpr std::string_view if_deny_all[] = {
    "adaptation_access", "follow_x_forwarded_for", "htcp_access",  "htcp_clr_access",
    "icp_access",        "ident_lookup_access",    "never_direct", "proxy_protocol_access",
    "snmp_access",       "url_rewrite_access",
};
constexpr std::string_view if_off[] = {
    "configuration_includes_quoted_values",
    "ecap_enable",
    "host_verify_strict",
    "htcp_port",
    "icap_enable",
    "icp_port",
    "query_icmp",
    "snmp_port",
    "spoof_client_ip",
    "test_reachability",
};

constexpr std::string_view foreign_acl_types[] = {
    "adaptation_service",
    "annotate_client",
    "annotate_transaction",
    "any-of",
    "all-of",
    "arp",
    "at_step",
    "browser",
    "client_connection_mark",
    "clientside_mark",
    "connections_encrypted",
    "dst_as",
    "eui64",
    "ext_user",
    "ext_user_regex",
    "external",
    "has",
    "hier_code",
    "http_status",
    "ident",
    "ident_regex",
    "localip",
    "localport",
    "max_user_ip",
    "maxconn",
    "myport",
    "myportname",
    "note",
    "peername",
    "peername_regex",
    "proto",
    "proxy_auth",
    "proxy_auth_regex",
    "random",
    "referer_regex",
    "rep_header",
    "rep_mime_type",
    "req_header",
    "req_mime_type",
    "server_cert_fingerprint",
    "snmp_community",
    "squid_certificate",
    "src_as",
    "srcdom_regex",
    "srcdomain",
    "ssl::server_name",
    "ssl::server_name_regex",
    "tag",
    "time",
    "transaction_initiator",
    "url_regex",
    "urllogin",
    "urlpath_regex",
};

template <std::size_t Size>
bool has(const std::string_view (&list)[Size], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

}  // namespace

Passed passed_over(std::string_view directive) noexcept {
  if (has(caching, directive)) return Passed::caching;
  if (has(tuning, directive)) return Passed::tuning;
  if (has(if_allow_all, directive)) return Passed::if_allow_all;
  if (has(if_deny_all, directive)) return Passed::if_deny_all;
  if (has(if_off, directive)) return Passed::if_off;
  return Passed::no;
}

std::string nearest_directive(std::string_view name) {
  return std::string{nearest(name, {std::begin(understood), std::end(understood)})};
}

bool is_foreign_acl_type(std::string_view type) noexcept { return has(foreign_acl_types, type); }

}  // namespace stile::squid
