"""What a source file may include and name, by its folder (the map is in docs/architecture.md).

The linker already refuses most forbidden calls; this also sees headers, inline functions and types.
"""

import re
from typing import NamedTuple

PARTS = {"proxy/http", "proxy/tls", "proxy/dns", "proxy/net", "proxy/metrics"}
BELOW_SESSION = PARTS | {"proxy/base", "proxy/intercept", "audit", "scan", "acl"}

# Folder or file -> the folders or files that it may include beside its own folder. The longest
# entry that fits a path counts. Parts of the proxy do not know each other: the session joins them.
MAY_INCLUDE = {
    "base": set(),
    "acl": set(),
    "scan": {"acl"},
    "config": {"scan", "acl"},
    "audit": {"acl"},
    "squid": {"audit", "config", "acl"},
    "proxy/base": {"acl"},
    **{part: {"proxy/base", "acl"} for part in PARTS},
    "proxy/intercept": {"proxy/base", "proxy/net", "acl"},
    "proxy/session": BELOW_SESSION,
    "proxy/commands": BELOW_SESSION | {"proxy/session", "control", "config"},
    "proxy/server": BELOW_SESSION | {"proxy/session", "proxy/commands", "control", "config"},
    "control/client.h": {"acl"},
    "control/client.cc": {"control/client.h", "acl"},
    "control/follower.h": {"control/client.h", "acl"},
    "control/follower.cc": {"control/follower.h", "acl"},
    "control/daemon_sockets.cc": {"control/daemon_sockets.h", "config", "acl"},
    "control": {"audit", "config", "proxy/base", "acl"},
    "confine": {"acl"},
    "units": {"config", "acl"},
    "worker": {"config", "acl"},
    "run": {"units", "audit", "config", "confine", "acl", "control/file_policy.h", "control/client.h", "control/follower.h",
            "control/run_sockets.h", "proxy/server", "proxy/base"},
    "notify": set(),
    # What counts is pure; the rest talks to the store and to the control socket.
    "fleet": {"config", "acl", "control/client.h", "control/daemon_sockets.h", "proxy/base/log.h"},
    # What callers of workers say and hear over A2A; pure.
    "a2a": {"config", "acl"},
    # Reads what browsers send; of the daemon it has the control socket and the sandbox.
    "web": {"a2a", "cli/judge.h", "cli/replay.h", "cli/rule_diff.h", "cli/seen.h", "audit", "config", "acl", "control/client.h", "control/daemon_sockets.h", "proxy/base/log.h",
            "proxy/server/privileges.h", "proxy/server/sandbox.h", "proxy/server/unix_socket.h"},
    # Reads what MCP clients send; the command gives it the ways to spawner and daemon.
    "mcp": {"config", "acl", "web/loopback.h", "web/origin.h"},
    "cli": {"mcp", "notify", "fleet", "control/client.h", "control/daemon_sockets.h", "control/follower.h", "control/protocol.h",
            "control/run_sockets.h", "run/options.h", "run/run.h", "audit", "config", "squid", "acl"},
    # Runs with CAP_NET_ADMIN and CAP_SYS_ADMIN, so nothing that reads the agents' bytes is in it.
    "netns": {"control/client.h", "control/protocol.h", "config", "confine", "worker", "acl"},
    # Runs as root, too, and starts workers: neither the proxy nor the fence is in it.
    "spawn": {"units", "worker", "audit", "config", "confine", "acl"},
    "cmd": {"proxy/server", "proxy/base", "control/protocol.h", "cli", "audit", "config", "acl"},
    "cmd/stile_squid.cc": {"proxy/server", "proxy/base", "squid", "config", "acl"},
    "cmd/stile_fleet.cc": {"fleet", "proxy/base/log.h"},
    "cmd/stile_web.cc": {"web", "proxy/base/log.h"},
    "cmd/stile_netns.cc": {"netns", "confine", "worker", "control/protocol.h", "config", "acl"},
    "cmd/stile_spawner.cc": {"spawn", "config", "acl"},
}


class Library(NamedTuple):
    header: str  # what its #include lines look like
    name: str  # what its types and functions look like
    home: tuple  # where both may stand
    in_headers: bool | tuple = True  # in .h files there, too, or only in those of these folders


LIBRARIES = {
    "toml++": Library(r"toml\+\+/", r"\btoml::", ("config/",), in_headers=False),
    "nlohmann-json": Library(r"nlohmann/", r"\bnlohmann::", ("config/json_loader.cc", "base/json_value.cc"),
                             in_headers=False),
    "re2": Library(r"re2/", r"\bre2::|\bRE2\b", ("acl/", "scan/")),
    "c-ares": Library(r"ares(_\w+)?\.h", r"\bares_\w+\(", ("proxy/dns/",)),
    "prometheus-cpp": Library(r"prometheus/", r"\bprometheus::", ("proxy/metrics/",)),
    "libnftables": Library(r"nftables/", r"\bnft_\w+\(", ("netns/",), in_headers=False),
    "libmnl": Library(r"libmnl/", r"\bmnl_\w+\(", ("netns/",)),
    "libssl": Library(r"openssl/ssl", r"\bSSL_\w+\(", ("proxy/intercept/", "notify/", "fleet/")),
    "zlib": Library(r"zlib\.h", r"\binflate\w*\(", ("proxy/http/", "scan/"), in_headers=False),
    "libseccomp": Library(r"seccomp\.h", r"\bseccomp_\w+\(", ("proxy/server/", "confine/"), in_headers=False),
    "sd-bus": Library(r"systemd/sd-(bus|event)", r"\bsd_(bus|event)_\w+\(", ("units/", "spawn/", "proxy/server/service_unit.cc")),
    "Boost.Asio": Library(r"boost/asio", r"\basio::", ("proxy/", "control/", "web/", "mcp/", "fleet/", "base/accept_loop.h", "base/http_connection.")),
    "Boost.Beast": Library(r"boost/beast", r"\bbeast::", ("proxy/", "web/", "mcp/", "fleet/", "base/http_connection.")),
    "CLI11": Library(r"CLI/", r"\bCLI::", ("base/help_text.h", "cli/command.", "cli/run.cc", "cmd/")),
}

# The core decides from values alone: what it cannot name it cannot depend on.
IMPURE = {
    "a stream": r"#include <([io]?f?stream|sstream|iostream|print|cstdio)>|\bstd::c(out|err|log)\b|\bprintf\(",
    "a clock": r"\b\w+_clock\b|\btime\(|\bclock_gettime\b",
    "errno": r"\berrno\b",
    "the system": r"#include <(unistd\.h|fcntl\.h|sys/|netdb\.h|arpa/|netinet/)",
}

TYPE = re.compile(r"(?:struct|class|enum class|enum) (\w+)(?: final)?(?: :[^{]*)? {")
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')


def longest_entry(path):
    fitting = [key for key in MAY_INCLUDE if path == key or path.startswith(key + "/")]
    return max(fitting, key=len, default=None)


def include_problems(path, target):
    entry = longest_entry(path)
    folder = path.rpartition("/")[0]
    allowed = MAY_INCLUDE[entry] | {"base", folder, entry.partition(".")[0]}
    if not any(target == place or target.startswith(place + "/") for place in allowed):
        yield f"{folder}/ may not include {target}"


def library_problems(path, line, header):
    for library, (header_form, name_form, home, in_headers) in LIBRARIES.items():
        used = re.match(header_form, header) if header else re.search(name_form, line)
        if not used:
            continue
        if not path.startswith(home):
            yield f"{library} stays in {', '.join(home)}"
        elif path.endswith(".h") and in_headers is not True and not path.startswith(in_headers or ()):
            yield f"{library} stays in .cc files"


def order_problems(path, lines):
    """A .cc includes its own header first, which proves that the header compiles alone."""
    includes = [match[2] for line in lines if (match := INCLUDE.match(line))]
    own = path.removesuffix("cc") + "h"
    if path.endswith(".cc") and own in includes and includes[0] != own:
        yield 1, f"{own} is not included first"
    if path.endswith(".h") and "#pragma once" not in lines:
        yield 1, "#pragma once is missing"
    if not lines or not lines[0].startswith("// "):
        yield 1, "the first line does not say what this file is"


def shared_types(text):
    """The types of one file that other files could see, with their namespace."""
    scopes = []
    for line in text.splitlines():
        if opened := re.match(r"namespace\b ?([\w:]*) ?{$", line):
            scopes.append(opened[1])
        elif line.startswith("}  // namespace"):
            scopes.pop()
        elif (named := TYPE.match(line)) and all(scopes):
            yield "::".join([*scopes, named[1]])


def types_named_twice(texts):
    """Of a dict of paths and texts. The compiler sees one file at a time, and the linker takes either."""
    homes = {}
    for path, text in texts.items():
        for name in shared_types(text):
            homes.setdefault(name, []).append(path)
    return {name: paths for name, paths in homes.items() if len(paths) > 1}


def problems(path, text):
    """Yields (line number, what is wrong) for one source file; path is relative to the root."""
    lines = text.splitlines()
    yield from order_problems(path, lines)
    for number, line in enumerate(lines, 1):
        code = re.sub(r"//.*", "", line)
        include = INCLUDE.match(line)
        found = [*library_problems(path, code, include[2] if include else None)]
        if include and include[1] == '"':
            found += include_problems(path, include[2])
        if path.startswith("acl/"):
            found += [f"acl/ may not use {what}" for what, form in IMPURE.items() if re.search(form, code)]
        if re.search(r"\b(if|while|switch|for) \(.*co_await .*\) |(&&|\|\|) !?co_await", code + " "):
            if not re.search(r"\b(if|while) \([^()]*(\([^()]*\)[^()]*)*\) (\w+ = )?co_await", code):
                found.append("g++ 12 miscompiles a co_await in a condition: give it a statement")
        if re.search(r"\b(TODO|FIXME|XXX)\b", line):
            found.append("unfinished business belongs into an issue")
        if re.search(r"\b(up|down)stream", line, re.IGNORECASE):
            found.append("say client and origin: projects disagree on what is upstream")
        yield from ((number, what) for what in found)
