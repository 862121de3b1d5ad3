"""`ask` of the control socket: a captain asks on behalf of an agent, and only a person's answer counts."""

import pytest
from harness.asks import find, hold
from harness.control import Control
from harness.origin import echo

LONG = {"limits": {"ask_hold_ms": 60000, "drain_timeout_ms": 500}}


@pytest.fixture
def asking(world):
    for name in ("a.test", "b.test"):
        world.tcp_origin(name, handler=echo)
    world.agent("alpha", allow=["a.test"], deny=["denied.test"], unlisted="ask")
    world.agent("beta", allow=["a.test"])
    return world


@pytest.fixture
def proxy(asking):
    return asking.start(server={"read_only_group": "nogroup"}, **LONG)


@pytest.fixture
def reader(proxy):
    """Captains have the read-only socket."""
    with Control(proxy.settings["server"]["control"].replace("control.sock", "read.sock")) as connection:
        yield connection


def url(world, host, path="/"):
    return f"https://{host}:{world.port}{path}"


def test_it_becomes_an_ask_that_a_person_answers(asking, proxy, reader):
    said = reader.do("ask", agent="alpha", url=url(asking, "b.test"), reason="the wheels \u202eare there")
    assert (said["state"], said["host"], said["port"]) == ("open", "b.test", asking.port)
    ask = find(reader, "b.test")
    assert ask["id"] == said["id"] and ask["agent_reason"] == "the wheels \\xe2\\x80\\xaeare there"
    assert "b.test" not in asking.dns.names_asked()
    # The same question, and a request of the agent itself, wait on the same ask.
    assert reader.do("ask", agent="alpha", url=url(asking, "b.test"))["id"] == ask["id"]
    with proxy.control() as control:
        client, held = hold(proxy, control, "b.test", asking.port)
        assert held["id"] == ask["id"]
        assert reader.refused("answer", ask=ask["id"], verdict="allow")["code"] == "forbidden"
        control.do("answer", ask=ask["id"], verdict="allow")
    assert client.read_response("CONNECT").status == 200
    assert reader.do("ask", agent="alpha", url=url(asking, "b.test"))["state"] == "allowed"
    line, = proxy.audit.entries(event="ask")
    assert line["agent"] == "alpha" and line["host"] == "b.test" and line["actor"]


def test_a_refusal_is_remembered(asking, proxy, reader):
    ask = reader.do("ask", agent="alpha", url=url(asking, "b.test"))
    with proxy.control() as control:
        control.do("answer", ask=ask["id"], verdict="deny")
    assert reader.do("ask", agent="alpha", url=url(asking, "b.test"))["state"] == "refused"


def test_only_what_a_person_decides_is_asked(asking, proxy, reader):
    assert reader.do("ask", agent="alpha", url=url(asking, "a.test"))["state"] == "allowed"
    for agent, target in (("alpha", url(asking, "denied.test")), ("alpha", "https://10.0.0.1/"),
                          ("alpha", "https://b_d.test/"), ("beta", url(asking, "b.test"))):
        assert reader.refused("ask", agent=agent, url=target)["code"] == "denied-by-rule", target
    assert reader.refused("ask", agent="gamma", url=url(asking, "b.test"))["code"] == "unknown-agent"
    assert reader.refused("ask", agent="alpha")["code"] == "bad-request"
    assert reader.refused("ask", agent="alpha", url=url(asking, "b.test"), reason="x" * 257)["code"] == "bad-request"
    assert reader.refused("ask", agent="alpha", url=url(asking, "b.test"), reason="\x1b[2J")["code"] == "bad-request"
    assert reader.do("asks")["asks"] == []


def test_they_are_bounded(asking, proxy, reader):
    for number in range(4):
        assert reader.do("ask", agent="alpha", url=url(asking, f"h{number}.test"))["state"] == "open"
    assert reader.refused("ask", agent="alpha", url=url(asking, "b.test"))["code"] == "conflict"


@pytest.mark.parametrize(("path", "asked"), [("/y", "/y"), ("/y?q=/z#f", "/y"), ("?q=/z", "/"), ("", "/")])
def test_one_request_of_a_host_that_is_opened(world, path, asked):
    world.tls_origin("a.test")
    world.agent("alpha", allow=[], unlisted="ask", request=[{"host": "a.test", "paths": ["/x"]}])
    proxy = world.start(**LONG)
    with proxy.control() as control:
        said = control.do("ask", agent="alpha", url=url(world, "a.test", path), method="GET")
        ask = find(control, "a.test")
        assert ask["id"] == said["id"]
        assert (ask["scheme"], ask["method"], ask["path"], ask["reason"]) == ("https", "GET", asked, "path-not-allowed")
        control.do("answer", ask=ask["id"], verdict="allow")
        assert control.do("explain", agent="alpha", url=url(world, "a.test", asked))["verdict"] == "allow"
        assert control.do("explain", agent="alpha", url=url(world, "a.test", "/z"))["verdict"] == "deny"


def test_plain_http(asking, proxy, reader):
    said = reader.do("ask", agent="alpha", url="http://b.test:8080/x?q")
    assert (said["state"], said["port"]) == ("open", 8080)
    assert find(reader, "b.test")["scheme"] == "http"
