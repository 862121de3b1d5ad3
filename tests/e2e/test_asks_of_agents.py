"""http://stile.internal: an agent sees and makes its own asks, and learns nothing else."""

import json

import pytest
from harness.asks import find, hold, own_page
from harness.origin import echo
from harness.wait import until

LONG = {"limits": {"ask_hold_ms": 60000, "drain_timeout_ms": 500}}


@pytest.fixture
def proxy(world):
    world.tcp_origin("b.test", handler=echo)
    world.agent("alpha", allow=["a.test"], deny=["denied.test"], unlisted="ask")
    world.agent("beta", allow=[], unlisted="ask")
    world.agent("plain", allow=[])
    return world.start(**LONG)


@pytest.fixture
def control(proxy):
    with proxy.control() as connection:
        yield connection


def test_an_agent_asks_ahead_with_a_reason(world, proxy, control):
    status, made = own_page(proxy, method="POST",
                            body={"host": "b.test", "port": world.port, "reason": "the docs are there"})
    assert status == 202 and made["state"] == "open" and made["host"] == "b.test"
    ask = find(control, "b.test")
    assert (ask["id"], ask["agent_reason"], ask["reason"], ask["held"]) == \
        (made["id"], "the docs are there", "host-not-allowed", 0)
    line = proxy.audit.wait_one(event="ask")
    assert (line["host"], line["detail"]) == ("b.test", "the docs are there")
    control.do("answer", ask=ask["id"], verdict="allow")
    assert proxy.connect("b.test", world.port).status == 200
    assert own_page(proxy, f"/v1/asks/{ask['id']}") == (200, {**made, "state": "allowed",
        "expires": own_page(proxy, f"/v1/asks/{ask['id']}")[1]["expires"]})
    assert "stile.internal" not in world.dns.names_asked()


def test_an_agent_waits_for_its_answer(world, proxy, control):
    _, made = own_page(proxy, method="POST", body={"host": "b.test"})
    client = proxy.client(seconds=30)
    client.send(f"GET http://stile.internal/v1/asks/{made['id']}?wait=30 HTTP/1.1\r\n"
                "Host: stile.internal\r\n\r\n".encode())
    until(lambda: find(control, "b.test")["held"] == 1, 20)
    control.do("answer", ask=made["id"], verdict="deny", reason="never tell this")
    answer = client.read_response("GET")
    seen = json.loads(answer.body)
    assert (answer.status, seen["state"]) == (200, "refused")
    assert b"never tell this" not in answer.body
    # The connection goes on.
    client.send(b"GET http://stile.internal/v1/asks HTTP/1.1\r\nHost: stile.internal\r\n\r\n")
    assert [one["id"] for one in json.loads(client.read_response("GET").body)["asks"]] == [made["id"]]


def test_an_agent_with_an_entry_that_covers_the_page_waits_for_its_answer(world):
    world.agent("alpha", allow=[], unlisted="ask", http_ports=[80], request=[{"host": "*.internal"}])
    proxy = world.start(**LONG)
    _, made = own_page(proxy, method="POST", body={"host": "b.test"})
    with proxy.control() as control, proxy.client(seconds=30) as client:
        client.send(f"GET http://stile.internal/v1/asks/{made['id']}?wait=30 HTTP/1.1\r\n"
                    "Host: stile.internal\r\n\r\n".encode())
        until(lambda: find(control, "b.test")["held"] == 1, 20)
        control.do("answer", ask=made["id"], verdict="deny")
        assert json.loads(client.read_response("GET").body)["state"] == "refused"


def test_an_agent_sees_only_its_own(world, proxy, control):
    _, ask = hold(proxy, control, "b.test", world.port)
    assert [one["id"] for one in own_page(proxy)[1]["asks"]] == [ask["id"]]
    assert own_page(proxy, agent="beta") == (200, {"asks": []})
    missing = own_page(proxy, "/v1/asks/000000000000", "beta")
    assert own_page(proxy, f"/v1/asks/{ask['id']}", "beta") == missing and missing[0] == 404
    assert own_page(proxy, f"/v1/asks/{ask['id']}?wait=30", "beta") == missing
    # Who does not ask has no such page.
    assert proxy.get("http://stile.internal/v1/asks", "plain").reason == "port-not-allowed"


def test_nothing_can_be_answered_there(world, proxy, control):
    _, ask = hold(proxy, control, "b.test", world.port)
    for method, path in (("POST", f"/v1/asks/{ask['id']}"), ("DELETE", f"/v1/asks/{ask['id']}"),
                         ("PUT", "/v1/asks"), ("POST", f"/v1/asks/{ask['id']}/answer"),
                         ("GET", "/v1/asks/"), ("GET", "/"), ("GET", "/v1/asks/../asks")):
        status = proxy.get(f"http://stile.internal{path}", method=method,
                           body=b"{}" if method != "GET" else None).status
        assert status in (400, 404, 405), (method, path, status)
    assert find(control, "b.test")["held"] == 1


def test_what_may_not_be_asked_is_refused_there_too(world, proxy, control):
    for host, error in (("denied.test", "host-denied"), ("1.2.3.4", "ip-literal"),
                        ("b c", "bad-request"), ("", "bad-request"),
                        ("stile.internal", "host-not-allowed")):
        status, body = own_page(proxy, method="POST", body={"host": host, "port": world.port})
        assert status in (400, 403) and body["error"] == error, (host, body)
    assert own_page(proxy, method="POST", body={"host": "a.test", "port": 1})[0] == 202
    assert control.do("asks")["asks"][0]["port"] == 1


@pytest.mark.parametrize("body", [
    b"", b"{", b"[]", b"null", b'{"host":1}', b'{"host":"b.test","verdict":"allow"}',
    b'{"host":"b.test","host":"c.test"}', b'{"host":"b.test","port":"443"}',
    b'{"host":"b.test","scheme":"tcp"}', b'{"reason":"x"}', b'{"host":"b.test","port":-1}',
])
def test_a_body_that_is_no_wish_is_refused(proxy, control, body):
    status, _ = own_page(proxy, method="POST", body=body)
    assert status in (400, 403)
    assert control.do("asks")["asks"] == []


def test_what_an_agent_writes_is_bounded_text(proxy, control):
    words = "\u001b[2J\r\n\u202e" + "x" * 3000
    assert own_page(proxy, method="POST", body={"host": "b.test", "reason": words})[0] == 202
    said = find(control, "b.test")["agent_reason"]
    assert len(said) <= 256 and said.isascii() and said.isprintable() and "\\x1b" in said
    answer = proxy.get("http://stile.internal/v1/asks", method="POST", body=b"x" * 5000)
    assert answer.status == 413
    raw = json.dumps(control.do("asks"))
    assert "\u202e" not in raw


def test_asking_ahead_is_bounded(proxy, control):
    for number in range(16):
        assert own_page(proxy, method="POST", body={"host": f"h{number}.test"})[0] == 202
    assert own_page(proxy, method="POST", body={"host": "more.test"})[0] == 429
    assert own_page(proxy, method="POST", body={"host": "h0.test"})[0] == 202
    assert len(control.do("asks")["asks"]) == 16


def test_the_page_is_for_agents_that_are_served(proxy, control):
    control.do("mode", mode="offline", agent="alpha")
    assert proxy.get("http://stile.internal/v1/asks").reason == "offline"


def test_a_look_alike_is_pointed_out(world):
    world.agent("alpha", allow=["api.anthropic.com"], unlisted="ask")
    proxy = world.start(**LONG)
    own_page(proxy, method="POST", body={"host": "api.anthr0pic.com"})
    with proxy.control() as control:
        assert find(control, "api.anthr0pic.com")["looks_like"] == "api.anthropic.com"
