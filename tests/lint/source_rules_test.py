"""Holds the source tree to source_rules.py, and source_rules.py to its word."""

import pathlib

import pytest

from source_rules import MAY_INCLUDE, problems, types_named_twice

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDERS = sorted({key.partition("/")[0] for key in MAY_INCLUDE})


def sources():
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in (".h", ".cc"):
                yield file.relative_to(ROOT).as_posix()


def test_every_source_keeps_the_rules():
    found = [
        f"{path}:{line}: {what}"
        for path in sources()
        for line, what in problems(path, (ROOT / path).read_text())
    ]
    assert not found, "\n" + "\n".join(found)


def test_no_two_types_share_a_name():
    assert types_named_twice({path: (ROOT / path).read_text() for path in sources()}) == {}


def test_a_name_counts_with_its_namespace():
    def text(namespace, definition):
        return f"namespace {namespace}{{\n\n{definition}\n}};\n\n}}  // namespace {namespace}\n"

    texts = {"a.h": text("stile ", "struct Link {"), "b.h": text("stile ", "class Link : public X {"),
             "c.h": text("stile::netns ", "struct Link {"), "d.cc": text("", "struct Link {"),
             "e.h": text("stile ", "struct Link;")}
    assert types_named_twice(texts) == {"stile::Link": ["a.h", "b.h"]}


# A path, a line in it, and a word of the complaint; None: no complaint.
CASES = [
    ("acl/decide.cc", '#include "acl/host.h"', None),
    ("acl/decide.cc", '#include "config/settings.h"', "may not include"),
    ("acl/decide.cc", "#include <boost/asio/ip/address.hpp>", "Boost.Asio"),
    ("acl/decide.cc", "#include <iostream>", "a stream"),
    ("acl/decide.cc", "auto now = std::chrono::system_clock::now();", "a clock"),
    ("acl/decide.cc", "return errno;", "errno"),
    ("acl/decide.cc", "// not errno, which is a global", None),
    ("acl/regex_set.cc", "#include <re2/set.h>", None),
    ("config/card.cc", '#include "acl/pattern.h"', None),
    ("config/squid/parse.cc", '#include "config/settings.h"', None),
    ("config/settings.h", "#include <toml++/toml.h>", "stays in .cc files"),
    ("config/toml_loader.cc", "#include <toml++/toml.h>", None),
    ("proxy/http/guard.cc", '#include "proxy/http/head.h"', None),
    ("proxy/http/guard.cc", '#include "proxy/base/task.h"', None),
    ("proxy/http/guard.cc", '#include "proxy/tls/client_hello.h"', "may not include"),
    ("proxy/http/guard.cc", '#include "proxy/session/session.h"', "may not include"),
    ("proxy/session/session.h", '#include "proxy/tls/client_hello.h"', None),
    ("proxy/session/session.cc", "prometheus::Counter& requests;", "prometheus-cpp"),
    ("proxy/session/session.cc", "ares_query(channel);", "c-ares"),
    ("proxy/server/server.cc", '#include "control/server.h"', None),
    ("cli/status.cc", '#include "control/protocol.h"', None),
    ("cli/status.cc", '#include "control/server.h"', "may not include"),
    ("netns/apply.cc", "#include <nftables/libnftables.h>", None),
    ("proxy/net/dialer.cc", "#include <libmnl/libmnl.h>", "libmnl"),
    ("cmd/stiled.cc", '#include "proxy/server/server.h"', None),
    ("cmd/stile_netns.cc", '#include "netns/plan.h"', None),
    ("cmd/stile_netns.cc", '#include "proxy/server/server.h"', "may not include"),
    ("proxy/session/connect.cc", "  if (!co_await send(*client_, bytes)) {", "co_await"),
    ("proxy/session/connect.cc", "  if (ready && !co_await read_more()) return;", "co_await"),
    ("proxy/session/connect.cc", "  if (sent && !keep_alive) co_await linger();", None),
    ("proxy/session/connect.cc", "  if (!socket.is_ready()) reason = co_await receive();", None),
    ("proxy/session/connect.cc", "  const bool sent = co_await send(*client_, bytes);", None),
    ("audit/writer.cc", "// TODO: rotate", "unfinished"),
    ("audit/writer.cc", "int upstream_port;", "client and origin"),
]


@pytest.mark.parametrize("path, line, complaint", CASES)
def test_a_line_is_judged_by_its_folder(path, line, complaint):
    text = f"// A file.\n#pragma once\n{line}\n"
    found = [what for _, what in problems(path, text)]
    if complaint is None:
        assert found == []
    else:
        assert any(complaint in what for what in found), found


def test_own_header_comes_first():
    text = '// A file.\n#include <string>\n\n#include "acl/host.h"\n'
    assert [*problems("acl/host.cc", text)] == [(1, "acl/host.h is not included first")]


def test_a_header_needs_pragma_once_and_a_first_sentence():
    assert [what for _, what in problems("acl/host.h", "int f();\n")] == [
        "#pragma once is missing",
        "the first line does not say what this file is",
    ]
