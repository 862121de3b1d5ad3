"""The pages that tell an operator what to type: every `stile` command of theirs is typed here."""

import re
import shlex
import tomllib

import pytest
from harness.cli import Operator
from harness.stiled import REPOSITORY


def commands_of(page):
    """The `stile` commands of a page, without their prompts."""
    text = (REPOSITORY / "docs" / page).read_text()
    typed = re.findall(r"^\$ (stile .*)$", text, re.M)
    typed += re.findall(r"`(stile (?:mode|tail|allow|explain|reload|suggest)[^`]*)`", text)
    return {command.strip() for command in typed}


class Typist:
    """Types commands of a page, with the names of the test in the place of the page's."""

    def __init__(self, page, operator, **names):
        self.left = commands_of(page)
        self.operator, self.names = operator, names

    def __call__(self, command, code=0, add=()):
        assert command in self.left, f"the page does not say {command}"
        self.left.discard(command)
        words = [self.names.get(word, word) for word in shlex.split(command)[1:]]
        done = self.operator(*words, *add)
        assert done.code == code, (words, done)
        return done.out


@pytest.fixture
def place(world):
    for name in ("a.test", "b.test"):
        world.tls_origin(name)
    world.agent("alpha", allow=["a.test"])
    return world, world.start(server={"control": world.short_path("control.sock")})


def test_from_observing_to_enforcing(place):
    world, proxy = place

    def reaches(host):
        return proxy.curl(f"https://{host}:{world.port}/").out == b"ok"
    draft = world.folder / "draft.toml"
    types = Typist("observe.md", Operator(proxy), **{
        "stile.toml": draft, "/var/log/stile/audit.jsonl": proxy.audit.path,
        "HOST": f"c.test:{world.port}"})
    config = ["--audit", proxy.audit.path, "--config", proxy.config]

    assert not reaches("b.test")
    types("stile mode observe alpha")
    assert reaches("a.test") and reaches("b.test")
    entry, = tomllib.loads(types("stile suggest --agent alpha", add=config))["agent"]
    assert entry["allow"] == ["a.test", "b.test"]

    proxy.settings["agent"][0]["allow"] = entry["allow"]
    proxy.write_config()
    draft.write_bytes(proxy.config.read_bytes())
    types("stile check stile.toml")
    assert "newly refused" not in types("stile diff stile.toml --audit /var/log/stile/audit.jsonl")

    types("stile mode enforce alpha")
    types("stile reload")
    assert reaches("a.test") and reaches("b.test")
    assert proxy.connect("c.test", world.port).reason == "host-not-allowed"
    types("stile allow alpha HOST --for 1h")
    assert proxy.connect("c.test", world.port).reason == "dns-failure"  # no longer the policy's
    assert types.left <= {"stile tail --denied"}  # has tests of its own


def test_a_refusal_in_ten_seconds(place):
    world, proxy = place
    types = Typist("troubleshooting.md", Operator(proxy), **{
        "https://wheels.example.org/": f"https://b.test:{world.port}/", "wheels.example.org": "b.test"})
    said = types("stile explain alpha https://wheels.example.org/", code=1)
    assert said.startswith("deny host-not-allowed")
    assert "the nearest is a.test" in said
    assert f"next: stile allow alpha b.test:{world.port} --for 10m" in said
    types("stile allow alpha wheels.example.org --for 10m")
    assert proxy.curl(f"https://b.test:{world.port}/").out == b"ok"
    assert "saved in" in types("stile allow alpha wheels.example.org --save")
    assert '"b.test"' in proxy.config.read_text()
    types("stile doctor", add=["--config", proxy.config])
    assert types.left <= {"stile tail --denied"}
