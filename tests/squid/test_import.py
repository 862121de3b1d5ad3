"""stile import-squid: the same verdicts from a stile.toml, or every rule that has no such form."""

import random
import subprocess

import pytest

import confs
from harness.stiled import binary
from pair import Asked

# Of a squid.conf that allows names on some ports only, and others on others.
BY_PORT = """
acl agents src {sources[0]} {sources[1]}
acl secure port 443 8443
acl plain port 80
acl apis dstdomain .example.com
acl files dstdomain api.test
acl blocked dstdomain telemetry.example.com
http_access deny blocked
http_access allow agents CONNECT secure apis
http_access allow agents !CONNECT plain files
http_access deny all
"""

# Everything but some names, for some; expressions for others.
ALL_BUT = """
acl first src {sources[0]}
acl others src {sources[1]}-{sources[2]}
acl web port 80 443
acl blocked dstdomain evil.test .b.example.com
acl numbered dstdom_regex -i API[0-9]
http_access deny !web
http_access allow first !blocked
http_access allow others numbered
"""


@pytest.mark.parametrize("conf", [confs.DOMAIN_LIST, confs.CLUSTER, BY_PORT, ALL_BUT],
                         ids=["list", "cluster", "by-port", "all-but"])
def test_gives_the_same_verdicts(pair, conf):
    (pair.folder / "allowed-domains.txt").write_text(".example.com\napi.test\n")
    text = conf.format(sources=pair.sources, folder=pair.folder)
    pair.start_imported(text)
    asked = [question for question in confs.questions(random.Random(1), Asked, pair.sources, 150)
             if "squid-internal-mgr" not in question.path and question.method != "get"]
    found = pair.differences(asked)
    assert not found, f"{found[:5]}\n{text}\n{(pair.folder / 'imported.toml').read_text()}"


@pytest.mark.parametrize("line, why", [
    ("acl a dst 10.0.0.0/8\nhttp_access allow a", "squid.conf:2: http_access allow a: "),
    ("acl a method GET\nhttp_access deny a", "of type method"),
    ("acl a dstdomain a.test\nacl b dstdomain b.test\nhttp_access allow a b", "in two lists at once"),
    ("acl a dstdomain a.test\nacl b dstdomain .test\nhttp_access allow a\nhttp_access deny b\n"
     "http_access allow all", "deny always wins"),
    ("http_access allow all", "squid.conf:1: http_access allow all: allows CONNECT to ports 1-65535"),
    ("# stile: ip_literals = allow", "squid.conf:1: # stile: ip_literals = allow: stile.toml names"),
    ("acl a dstdomain a.test\nacl b dstdom_regex b\nacl p port 80\nacl s port 443\n"
     "http_access allow p a\nhttp_access allow s b\nhttp_access deny all",
     "squid.conf:6: http_access allow s b: allows other names on other ports"),
    ("cache_peer a parent 1 1", "cache_peer: is not understood"),
])
def test_names_each_rule_that_has_no_form(open_folder, line, why):
    path = open_folder / "squid.conf"
    path.write_text(f"{line}\nhttp_port 3128\n")
    done = subprocess.run([binary("stile"), "import-squid", str(path)], capture_output=True,
                          text=True, timeout=30)
    assert done.returncode == 1
    assert done.stdout == ""
    assert why in done.stderr


def test_names_all_of_them_at_once(open_folder):
    path = open_folder / "squid.conf"
    path.write_text("acl a dst 10.0.0.0/8\nacl m method GET\nhttp_access allow a\n"
                    "http_access deny m\nhttp_access allow all\nhttp_port 3128\n")
    done = subprocess.run([binary("stile"), "import-squid", str(path)], capture_output=True,
                          text=True, timeout=30)
    assert done.returncode == 1
    named = [line.split(": ")[0].rpartition("/")[2] for line in done.stderr.splitlines()]
    assert {"squid.conf:3", "squid.conf:4", "squid.conf:5"} <= set(named), done.stderr


def test_without_a_file_is_wrong_use():
    done = subprocess.run([binary("stile"), "import-squid"], capture_output=True, timeout=30)
    assert done.returncode == 2
