"""Debian's squid and stile-squid answer alike, but for what Stile adds and says that it adds."""

import random
from pathlib import Path

import pytest

import confs
from pair import Asked

DEFAULT = Path("/etc/squid/squid.conf")


def check(pair, text, seed, count=150, literals=False):
    numbers = ["203.0.113.9", pair.hosts["api.test"]] if literals and pair.dns else []
    dice = random.Random(seed)
    pair.start(text)
    asked = confs.questions(dice, Asked, pair.sources, count, numbers)
    found = pair.differences(asked)
    assert not found, f"{found[:5]}\nof {len(found)}, with\n{text}\n{pair.log('stile')[-2000:]}"


def test_list_of_domains_in_a_file(pair):
    (pair.folder / "allowed-domains.txt").write_text(
        "# Default allowed domains\n    .example.com\n    api.test # one more\n\n")
    check(pair, confs.DOMAIN_LIST.format(sources=pair.sources, folder=pair.folder), "list")


def test_ports_and_networks_only(pair):
    check(pair, confs.CLUSTER.format(sources=pair.sources), "cluster", literals=True)


def test_what_the_nixos_module_writes(pair):
    check(pair, confs.NIXOS.format(sources=pair.sources, folder=pair.folder), "nixos")


def test_the_default_of_debian(pair):
    kept = [line for line in DEFAULT.read_text().splitlines() if not line.startswith("http_port")]
    pair.sources.append("127.0.0.1")
    check(pair, "\n".join(kept), "debian")


def test_lines_that_are_easy_to_misread(pair):
    check(pair, confs.CORNERS.format(sources=pair.sources, hosts=pair.hosts), "corners", count=300)


@pytest.mark.parametrize("seed", range(5))
def test_random_rules(pair, seed):
    check(pair, confs.random_conf(seed, pair.sources, pair.hosts), seed, count=200)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 160))
def test_many_random_rules(pair, seed):
    check(pair, confs.random_conf(seed, pair.sources, pair.hosts), seed, count=200)
