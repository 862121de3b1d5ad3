"""What a refused client sees: the reason wherever clients look, and nothing about anybody else."""

import json

import pytest
from harness.checks import assert_refusal
from harness.http_origin import reply, response


@pytest.fixture
def proxy(world):
    world.agent("alpha", allow=["o.test"], deny=["never.test"])
    world.agent("beta", allow=["secret-of-beta.test"])
    return world.start(egress={"contact": "ops@example.org, room 5"})


def test_refusal_has_its_reason_in_every_place(world, proxy):
    answer = proxy.connect("example.test", world.port)
    assert (answer.version, answer.status, answer.phrase) == ("HTTP/1.1", 403, "host-not-allowed")
    assert answer.value("X-Stile-Reason") == "host-not-allowed"
    assert answer.value("Proxy-Status") == (
        'stile; error=http_request_denied; details="host-not-allowed"')
    assert answer.value("Content-Type").startswith("application/json")
    assert int(answer.value("Content-Length")) == len(answer.body)


def test_body_of_a_refusal(world, proxy):
    answer = proxy.connect("Example.TEST.", world.port)
    pairs = json.loads(answer.body, object_pairs_hook=list)
    assert [key for key, _ in pairs] == ["error", "agent", "host", "port", "message", "hint",
                                         "contact"]
    body = dict(pairs)
    assert (body["error"], body["agent"], body["host"], body["port"]) == (
        "host-not-allowed", "alpha", "example.test", world.port)
    assert body["hint"].startswith("stile allow alpha example.test")
    assert body["contact"] == "ops@example.org, room 5"
    assert body["message"] == (
        f"Stile refused example.test:{world.port} for agent alpha: not on its allowlist; "
        f"ask the operator for: {body['hint']}; contact: ops@example.org, room 5")


def test_deny_rule_gets_no_hint(world, proxy):
    body = assert_refusal(proxy.connect("never.test", world.port), "host-denied")
    assert "hint" not in body


def test_contact_is_left_out_if_there_is_none(world):
    world.agent("alpha")
    proxy = world.start()
    body = assert_refusal(proxy.connect("x.test", world.port), "host-not-allowed")
    assert not body.get("contact") and "contact" not in body["message"]


def test_refusal_tells_nothing_of_others_and_nothing_of_headers(world, proxy):
    answer = proxy.connect("secret-of-beta.test", world.port,
                           headers=["Authorization: hunter2", "X-Canary: hunter3"])
    text = answer.raw_head + answer.body
    for word in (b"hunter", b"beta ", b"allow beta", b"Canary", b"stile.toml", b"Authorization"):
        assert word not in text
    assert json.loads(answer.body)["agent"] == "alpha"


def test_stranger_learns_no_agents_name(world, proxy):
    answer = proxy.connect("o.test", world.port, agent="stranger")
    assert_refusal(answer, "unknown-agent")
    assert b"alpha" not in answer.body and b"beta" not in answer.body


@pytest.mark.parametrize("host", ["a\"b.test", "<script>.test", "a\\b.test", "\xff.test",
                                  "a\x1b[2J.test", "x" * 3000])
def test_what_was_sent_is_escaped_in_the_body(world, proxy, host):
    answer = proxy.connect(host, world.port)
    body = assert_refusal(answer, "bad-request")
    assert all(0x20 <= byte < 0x7F or byte == 0x0A for byte in answer.body)
    assert len(answer.body) < 8192 and len(answer.raw_head) < 2048
    assert len(body.get("host", "")) <= 1024


def test_refusal_of_plain_http_looks_the_same(world, proxy):
    answer = proxy.get(f"http://example.test:{world.http_port}/")
    body = assert_refusal(answer, "host-not-allowed")
    assert body["hint"].startswith("stile allow alpha ")


def test_refusal_of_head_has_no_body(world, proxy):
    with proxy.client() as client:
        url = f"http://example.test:{world.http_port}"
        client.send(f"HEAD {url}/ HTTP/1.1\r\nHost: {url[7:]}\r\n"
                    "Connection: close\r\n\r\n".encode())
        everything = client.recv_to_end()
    head, _, body = everything.partition(b"\r\n\r\n")
    assert b"X-Stile-Reason: host-not-allowed" in head
    assert body == b""


def test_curl_shows_the_reason(world, proxy):
    run = proxy.curl(f"https://example.test:{world.port}/")
    assert run.connect_status == 403
    assert "HTTP/1.1 403 host-not-allowed" in run.err
    assert "X-Stile-Reason: host-not-allowed" in run.err
    assert "CONNECT tunnel failed, response 403" in run.err


def test_curl_of_plain_http_shows_the_reason_and_the_body(world, proxy):
    run = proxy.curl(f"http://example.test:{world.http_port}/")
    assert run.status == 403
    assert json.loads(run.out)["error"] == "host-not-allowed"
    assert "403 host-not-allowed" in run.err


def test_refused_http_1_0_client_gets_an_answer_too(world, proxy):
    with proxy.client() as client:
        client.send(f"CONNECT example.test:{world.port} HTTP/1.0\r\n\r\n".encode())
        assert_refusal(client.read_response("CONNECT"), "host-not-allowed")
        assert client.is_closed()


def test_successful_connect_says_nothing_more(world):
    world.tcp_origin("o.test")
    world.agent("alpha", allow=["o.test"])
    answer = world.start().connect("o.test", world.port)
    assert answer.status == 200
    assert answer.values("Content-Length") == [] and answer.values("Transfer-Encoding") == []


def test_error_page_of_an_origin_passes_untouched(world):
    origin = world.http_origin("h.test")
    origin.default = reply(response(b"their page", "502 Bad Gateway"))
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    answer = proxy.get(f"http://h.test:{world.http_port}/")
    assert (answer.status, answer.body, answer.reason) == (502, b"their page", None)
