"""stile allow --save: a rule in the file where the agent stands, and nothing else changed there."""

import json
import os
import stat
import tomllib

import pytest
from harness.cli import Operator

COMMENTED = """
# The first line, which nobody may lose.
{base}

[[agent]]
id = "alpha"   # ours
source = ["{source}"]
{allow}
mode = "enforce"  # not observe

[[agent]]
id = "beta"
source = ["127.99.99.99"]
allow = ["other.test"]
"""

ONE_LINE = 'allow = ["o.test"]  # short'
LINES = 'allow = [\n  "o.test",  # why\n  "p.test"   # the last\n]'
EMPTY = "allow = []"
NONE = "# allow comes later"


@pytest.fixture
def start(world):
    """Starts a proxy on a config that somebody wrote by hand; gives (proxy, operator)."""
    def begin(allow):
        world.tls_origin("n.test")
        world.agent("alpha", allow=[])
        proxy = world.start()
        base = proxy.config.read_text().partition("[[agent]]")[0]
        text = COMMENTED.format(base=base, source=world.addresses["alpha"], allow=allow)
        proxy.config.write_text(text)
        proxy.config.chmod(0o640)
        operator = Operator(proxy)
        operator.does("reload")
        return proxy, operator, text
    return begin


@pytest.mark.parametrize("allow", [ONE_LINE, LINES, EMPTY, NONE],
                         ids=["one line", "lines", "empty", "none"])
def test_only_the_rule_is_added(world, start, allow):
    proxy, stile, before = start(allow)
    assert proxy.connect("n.test", world.port).reason == "host-not-allowed"
    said = stile.does("allow", "alpha", "n.test", "--save")
    assert proxy.connect("n.test", world.port).status == 200
    assert f"+++ {proxy.config}" in said and "is in force" in said
    after = proxy.config.read_text()
    old, new = tomllib.loads(before), tomllib.loads(after)
    assert new["agent"][0].pop("allow") == old["agent"][0].pop("allow", []) + ["n.test"]
    assert new == old
    for line in before.splitlines():
        if "#" in line:
            assert line.partition("#")[2] in after, f"the comment of {line} is gone"
    assert stat.S_IMODE(proxy.config.stat().st_mode) == 0o640
    assert os.listdir(proxy.config.parent).count("stile.toml") == 1
    assert not [name for name in os.listdir(proxy.config.parent) if name.startswith("stile.toml.")]


def test_what_a_deny_rule_names_is_not_saved(start):
    proxy, stile, before = start(ONE_LINE + '\ndeny = [".n.test"]')
    done = stile("allow", "alpha", "n.test", "--save")
    assert done.code == 1 and "denied by .n.test" in done.err and "nothing was saved" in done.err, done
    assert proxy.config.read_text() == before


def test_what_the_daemon_does_not_take_is_taken_back(start):
    proxy, stile, before = start(ONE_LINE)
    broken = before.replace("workers = 1", "workers = 2")  # needs a restart
    proxy.config.write_text(broken)
    done = stile("allow", "alpha", "n.test", "--save")
    assert done.code == 1 and "is unchanged" in done.err and "saved" not in done.out, done
    assert proxy.config.read_text() == broken


def test_what_is_there_already_is_not_added_again(start):
    proxy, stile, before = start(ONE_LINE)
    assert "already has it" in stile.does("allow", "alpha", "o.test", "--save")
    assert proxy.config.read_text() == before


@pytest.mark.parametrize("allow", ['allow = ["o.test",\n  """p.test"""]', 'allow = ["o.test"\n]'])
def test_refuses_what_it_cannot_edit_safely(start, allow):
    proxy, stile, before = start(allow)
    done = stile("allow", "alpha", "n.test", "--save")
    assert done.code == 1 and "cannot be edited safely" in done.err
    assert "by hand" in done.err and '"n.test"' in done.err
    assert proxy.config.read_text() == before


def test_owner_is_kept(start):
    proxy, stile, _ = start(ONE_LINE)
    os.chown(proxy.config, 0, 65534)
    stile.does("allow", "alpha", "n.test", "--save")
    assert proxy.config.stat().st_gid == 65534


def test_link_stays_a_link(start):
    proxy, stile, _ = start(ONE_LINE)
    real = proxy.config.with_name("real.toml")
    proxy.config.rename(real)
    proxy.config.symlink_to(real)
    stile.does("reload")
    stile.does("allow", "alpha", "n.test", "--save")
    assert proxy.config.is_symlink() and '"n.test"' in real.read_text()


def test_into_a_card(world):
    world.tls_origin("n.test")
    cards = world.folder / "cards"
    cards.mkdir()
    world.addresses["gamma"] = world.site.new_agent_address()
    card = cards / "gamma.json"
    card.write_text(json.dumps({"agent_id": "gamma", "source": [world.addresses["gamma"]],
                                "allowed_hosts": ["o.test"], "workspace": "/w"}, indent=2))
    proxy = world.start(agents={"directories": [str(cards)]})
    said = Operator(proxy).does("allow", "gamma", "n.test", "--save")
    assert str(card) in said
    assert json.loads(card.read_text())["allowed_hosts"] == ["o.test", "n.test"]
    assert proxy.connect("n.test", world.port, agent="gamma").status == 200


def test_of_an_agent_without_a_file(world):
    proxy = world.start()
    stile = Operator(proxy)
    card = {"agent_id": "gamma", "source": [world.site.new_agent_address()], "allowed_hosts": []}
    stile("put-agent", "-", data=json.dumps(card))
    done = stile("allow", "gamma", "n.test", "--save")
    assert done.code == 1 and "put-agent" in done.err


def test_a_rule_in_a_file_has_no_end(start):
    _, stile, _ = start(ONE_LINE)
    assert stile("allow", "alpha", "n.test", "--save", "--for", "10m").code == 2
