"""squid.confs: those that people run, and random ones."""

import random

from pair import NAMES

# The way to run agents behind squid that many write-ups show, with a list of domains in a file.
DOMAIN_LIST = """
acl localnet src {sources[0]} {sources[1]}  # Agent network namespaces
acl SSL_ports port 443
acl Safe_ports port 80 443

acl allowed_domains dstdomain "{folder}/allowed-domains.txt"

http_access deny !Safe_ports
http_access deny CONNECT !SSL_ports

http_access allow localnet allowed_domains
http_access deny all

request_header_access Authorization deny all
request_header_access X-Api-Key deny all
strip_query_terms on
"""

# A small squid in a cluster: ports and networks only.
CLUSTER = """
# Minimal secure squid config
acl localnet src {sources[0]}/30
acl localnet src 172.16.0.0/12
acl SSL_ports port 443
acl Safe_ports port 80 443

http_access deny !Safe_ports
http_access deny CONNECT !SSL_ports
http_access allow localnet
http_access deny all

maximum_object_size 10 MB
"""

# What the NixOS module writes around the operator's lines.
NIXOS = """#!/nix/store/eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee-bash/bin/sh
acl localnet src 10.0.0.0/8
acl localnet src {sources[0]}
acl SSL_ports port 443          # https
acl Safe_ports port 80          # http
acl Safe_ports port 21          # ftp
acl Safe_ports port 1025-65535  # unregistered ports
acl Safe_ports port 443
acl CONNECT method CONNECT
http_access deny !Safe_ports
http_access deny CONNECT !SSL_ports
http_access allow localhost manager
http_access deny manager
http_access deny to_localhost !localnet
http_access allow localnet
http_access allow localhost
http_access deny all
cache_store_log stdio:{folder}/log/store.log
refresh_pattern ^ftp:           1440    20%     10080
refresh_pattern ^gopher:        1440    0%      1440
refresh_pattern -i (/cgi-bin/|\\?) 0     0%      0
refresh_pattern .               0       20%     4320
"""

# Lines whose meaning is easy to get wrong.
CORNERS = """
acl narrow src {sources[0]}
acl narrow src {sources[0]}/8
acl masked src {sources[1]}/31
acl range src {sources[1]}-{sources[2]}
acl names dstdomain example.com .api.test
acl pattern dstdom_regex -i ^MY-API[0-9]\\. +i EVIL
acl pattern dstdom_regex \\.b\\.
acl reads method GET HEAD
acl high port 8000-8999
acl empty dstdomain
acl target dst {hosts[evil.test]} {hosts[api.test]}
http_access deny empty
http_access allow narrow target !reads
http_access deny target range
http_access allow names high
http_access allow narrow !names !high
http_access deny masked !pattern
http_access allow range \\
    # a comment in between
    reads
http_access deny !pattern
"""


def random_conf(seed, sources, hosts):
    """A squid.conf that squid takes: its values do not overlap in ways that it refuses."""
    dice = random.Random(seed)
    values = {
        "src": [*sources, f"{sources[0]}/31", f"{sources[2]}-{sources[3]}", "all"],
        "dst": [f"{a}/32" for a in hosts.values()],
        "port": ["80", "443", "8000-8999", "1-1024", "8443"],
        "method": ["GET", "CONNECT", "POST", "PUT", "HEAD"],
        "dstdom_regex": ["^api", "[0-9]+\\.test$", "-i EXAMPLE", "evil|telemetry", "\\.com$"],
        "dstdomain": ["example.com", ".b.example.com", "www.example.com", ".api.test",
                      "evil.test", "notexample.com", "telemetry.example.com"],
    }
    lines, names = [], ["all", "localhost", "CONNECT", "manager", "to_localhost"]
    for number in range(dice.randint(4, 8)):
        kind = dice.choice(list(values))
        chosen = dice.sample(values[kind], dice.randint(1, 3))
        if kind == "src" and "all" in chosen:
            chosen = ["all"]
        lines += [f"acl n{number} {kind} {value}" for value in chosen]
        names.append(f"n{number}")
    for _ in range(dice.randint(3, 9)):
        terms = [dice.choice(["", "", "!"]) + name
                 for name in dice.sample(names[5:] + names[:1], dice.randint(1, 3))]
        lines.append(f"http_access {dice.choice(['allow', 'deny'])} {' '.join(terms)}")
    return "\n".join(lines)


def questions(dice, asked_type, sources, count, literals=()):
    hosts = [*NAMES, "own.test", "EXAMPLE.com", "www.example.com."]
    rows = []
    for _ in range(count):
        method = dice.choice(["CONNECT", "CONNECT", "GET", "POST", "HEAD", "PUT", "get"])
        port = dice.choice([443, 443, 8443, 8001, 22] if method == "CONNECT" else [80, 80, 8001, 443, 21])
        path = dice.choice(["/", "/a?b=c", "/squid-internal-mgr/menu", "/%73quid-internal-mgr/x"])
        rows.append(asked_type(dice.choice(sources), method, dice.choice(hosts), port, path))
    for literal in literals:
        rows += [asked_type(source, "CONNECT", literal, 443) for source in sources[:2]]
    return rows
