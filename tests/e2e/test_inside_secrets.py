"""Secrets: Stile puts the credential in; the agent never holds it, and gets nothing else out."""

import base64
import gzip
import os
from pathlib import Path

import pytest
from harness.checks import assert_denied, assert_untouched
from harness.cli import Operator
from harness.http_origin import response
from harness.inside import Inside
from harness.wait import until

VALUE = "sk-real+value/0123456789"


@pytest.fixture
def keyed(world):
    world.origin = world.tls_origin("a.test")
    world.other = world.tls_origin("b.test")
    world.secret("api", VALUE, ["a.test"], header="X-Api-Key", placeholder="sk-placeholder-1")
    world.agent("alpha", allow=["a.test", "b.test"], secrets=["api"],
                request=[{"host": "b.test", "methods": ["*"]}])
    return world


def assert_nowhere(world, proxy, value=VALUE):
    """Not in any file of the daemon, nor in what it tells."""
    for path in Path(world.folder).rglob("*"):
        if path.is_file() and not path.name.startswith("secret-"):
            assert value.encode() not in path.read_bytes(), path
    assert value not in proxy.metrics().text
    environment = Path(f"/proc/{proxy.process.pid}/environ").read_bytes()
    assert value.encode() not in environment
    with proxy.control() as control:
        for action in ("status", "agents", "connections", "secrets", "trust", "config"):
            assert value not in str(control.ask(action))
        assert value not in str(control.ask("agent", agent="alpha"))
        assert value not in str(control.ask("trust", agent="alpha"))
    for pid in Path(f"/proc/{proxy.process.pid}/task").iterdir():
        assert value.encode() not in (pid / "comm").read_bytes()


def test_the_secret_is_put_in_and_shown_nowhere(keyed):
    proxy = keyed.start()
    inside = Inside(keyed, proxy)
    assert inside.get("/v1", "X-Api-Key: sk-placeholder-1").status == 200
    assert keyed.origin.requests[0].values("x-api-key") == [VALUE]
    line = proxy.audit.only(event="open")
    assert line["secret"] == "api" and line["tls"] == "opened"
    assert proxy.metrics().total("stile_secret_uses_total", agent="alpha", secret="api") == 1
    assert_nowhere(keyed, proxy)


@pytest.mark.parametrize("headers", [
    [], ["X-Api-Key: planted-key-of-an-attacker"], ["x-api-key: a", "X-API-KEY: b"],
    ["Authorization: Bearer planted-key"], ["Proxy-Authorization: Basic eDp5"],
    ["Connection: x-api-key", "X-Api-Key: planted"], ["Connection: close, X-API-KEY"],
])
def test_credentials_of_the_agents_own_do_not_get_out(keyed, headers):
    inside = Inside(keyed, keyed.start())
    assert inside.get("/v1", *headers).status == 200
    request = keyed.origin.requests[0]
    assert request.values("x-api-key") == [VALUE]
    assert b"planted" not in request.raw_head and b"uthorization" not in request.raw_head


def test_own_refuse_refuses_them_and_takes_the_placeholder(keyed):
    keyed.secrets[0]["own"] = "refuse"
    proxy = keyed.start()
    inside = Inside(keyed, proxy)
    assert_denied(proxy, inside.get("/v1", "Authorization: Bearer mine"), "credential-refused")
    assert_untouched(keyed.origin)
    assert inside.get("/v1").status == 200
    assert inside.get("/v1", "X-Api-Key: sk-placeholder-1").status == 200


@pytest.mark.parametrize("shape, expected", [
    ({"header": "Authorization", "format": "Bearer {}"}, f"Bearer {VALUE}"),
    ({"header": "Authorization", "basic_user": "x-access-token"},
     "Basic " + base64.b64encode(f"x-access-token:{VALUE}".encode()).decode()),
])
def test_the_header_has_the_shape_of_the_config(keyed, shape, expected):
    keyed.secrets[0].update(shape)
    assert Inside(keyed, keyed.start()).get("/v1").status == 200
    assert keyed.origin.requests[0].values("authorization") == [expected]


def test_it_goes_only_to_its_paths(keyed):
    keyed.secrets[0]["paths"] = ["/v1/**"]
    inside = Inside(keyed, keyed.start())
    assert inside.get("/v1/messages").status == 200
    assert inside.get("/echo", "X-Api-Key: planted").status == 200
    first, second = keyed.origin.requests
    assert first.values("x-api-key") == [VALUE] and second.values("x-api-key") == []
    assert inside.get("/v1/../echo").reason == "bad-request"


def test_it_never_goes_to_another_host_or_for_another_agent(keyed):
    keyed.agent("beta", request=[{"host": "a.test", "methods": ["*"]}])
    proxy = keyed.start()
    for _ in range(3):
        assert Inside(keyed, proxy).get("/v1").status == 200
        assert Inside(keyed, proxy, agent="beta").get("/v1").status == 200
        assert Inside(keyed, proxy, "b.test").get("/v1").status == 200
    keys = [request.values("x-api-key") for request in keyed.origin.requests]
    assert keys == [[VALUE], []] * 3
    assert all(VALUE.encode() not in request.raw_head for request in keyed.other.requests)
    connections = {id(request.extra["conn"]): request.values("x-api-key")
                   for request in keyed.origin.requests}
    assert sorted(map(len, connections.values())) == [0, 1], "a connection was shared"


@pytest.mark.parametrize("host", ["a.test", "b.test"])
@pytest.mark.parametrize("target, headers", [
    ("/v1?key=sk-placeholder-1", []), ("/sk-placeholder-1/x", []),
    ("/v1", ["X-Other: sk-placeholder-1"]), ("/v1", ["Authorization: Bearer sk-placeholder-1"]),
])
def test_a_placeholder_elsewhere_is_refused(keyed, host, target, headers):
    proxy = keyed.start()
    inside = Inside(keyed, proxy, host)
    assert_denied(proxy, inside.get(target, *headers), "placeholder-misplaced")
    assert_untouched(keyed.origin, keyed.other)
    assert inside.get("/v1").status == 200


def test_the_placeholder_in_its_header_on_a_foreign_host_is_refused(keyed):
    proxy = keyed.start()
    answer = Inside(keyed, proxy, "b.test").get("/", "X-Api-Key: sk-placeholder-1")
    assert_denied(proxy, answer, "placeholder-misplaced")


def test_a_placeholder_in_a_body_never_arrives(keyed):
    proxy = keyed.start()
    body = b'{"key": "sk-placeholder-1"}'
    assert Inside(keyed, proxy, "b.test").ask("POST", "/", body=body).reason == \
        "placeholder-misplaced"
    inside = Inside(keyed, proxy, "b.test")
    inside.send("POST", "/", ["Transfer-Encoding: chunked"])
    inside.client.send(b"8\r\nxx-sk-pl\r\nb\r\naceholder-1\r\n0\r\n\r\n")
    assert inside.client.read_response("POST").reason == "placeholder-misplaced"
    assert len(proxy.audit.wait_count(2, event="deny", reason="placeholder-misplaced")) == 2
    assert not any(connection.received for connection in keyed.other.connections)
    body = b"sk-placeholder-" * 1000
    assert Inside(keyed, proxy, "b.test").ask("POST", "/", body=body).status == 200
    assert keyed.other.requests[-1].body == body


# Answers.

def forms(value):
    raw = value.encode()
    return [raw, base64.b64encode(raw), base64.b64encode(b"x" + raw), base64.b64encode(b"xy" + raw),
            base64.urlsafe_b64encode(raw), raw.hex().encode(), raw.hex().upper().encode(),
            b"sk-real%2Bvalue%2F0123456789", b"sk-real%2bvalue%2f0123456789"]


def is_clean(data):
    inner = [base64.b64encode(b"\0" * n + VALUE.encode())[4:-4] for n in range(3)]
    return not any(form in data for form in [*forms(VALUE), *inner])


@pytest.mark.parametrize("form", forms(VALUE))
def test_reflected_values_become_the_placeholder(keyed, form):
    keyed.origin.on("/echo", response(b"<" + form + b">", headers=["X-Echo: " + form.decode()]))
    proxy = keyed.start()
    answer = Inside(keyed, proxy).get("/echo")
    assert answer.complete and is_clean(answer.body) and is_clean(answer.raw_head), answer
    assert b"sk-placeholder-1" in answer.body and "sk-placeholder-1" in answer.value("X-Echo")
    assert answer.body.startswith(b"<") and answer.body.endswith(b">")


@pytest.mark.parametrize("coding", ["gzip", "X-Gzip"])
def test_they_are_found_over_the_borders_of_chunks_and_in_gzip(keyed, coding):
    def chunks(exchange):
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for letter in f"({VALUE})":
            exchange.send(f"1\r\n{letter}\r\n".encode())
        exchange.send(b"0\r\n\r\n")
    keyed.origin.on("/chunks", chunks)
    packed = gzip.compress(b"a" * 300_000 + VALUE.encode() + b"b" * 300_000)
    keyed.origin.on("/gzip", response(packed, headers=[f"Content-Encoding: {coding}"]))
    inside = Inside(keyed, keyed.start())
    assert inside.get("/chunks").body == b"(sk-placeholder-1)"
    answer = inside.get("/gzip", "Accept-Encoding: gzip")
    assert answer.body == b"a" * 300_000 + b"sk-placeholder-1" + b"b" * 300_000
    assert answer.values("content-encoding") == []
    assert keyed.origin.requests[-1].values("accept-encoding") == ["identity"]


def test_broken_gzip_is_a_bad_answer(keyed):
    keyed.origin.on("/gzip", response(b"no gzip at all", headers=["Content-Encoding: gzip"]))
    assert Inside(keyed, keyed.start()).get("/gzip").reason == "origin-bad-response"


# Values.

def test_a_changed_file_is_used_without_a_restart_and_no_request_fails(keyed):
    proxy = keyed.start()
    inside = Inside(keyed, proxy)
    path = Path(keyed.secrets[0]["file"])
    fresh = path.with_name("secret-new")
    fresh.touch(mode=0o600)
    fresh.write_text("sk-rotated-value-42\n")
    os.rename(fresh, path)

    def rotated():
        assert inside.get("/v1").status == 200
        return keyed.origin.requests[-1].values("x-api-key") == ["sk-rotated-value-42"]
    until(rotated)
    assert_nowhere(keyed, proxy, "sk-rotated-value-42")


@pytest.mark.parametrize("text, mode, problem", [
    ("short", 0o600, "at least 8 bytes"), ("two words here", 0o600, "visible ASCII"),
    ("long-enough-value", 0o644, "all users"),
])
def test_a_value_that_cannot_be_used_refuses_the_config(keyed, text, mode, problem):
    path = Path(keyed.secrets[0]["file"])
    path.write_text(text)
    path.chmod(mode)
    proxy = keyed.proxy()
    proxy.start(wait=False)
    assert proxy.wait_exit() == 1
    assert problem in proxy.log_text() and text not in proxy.log_text()
    proxy.expected_exit = {1}


def test_secrets_are_listed_with_their_last_use_over_reloads(keyed):
    keyed.secrets[0]["agent_env"] = "API_KEY"
    proxy = keyed.start()
    operator = Operator(proxy)
    with proxy.control() as control:
        listed, = control.do("secrets")["secrets"]
        assert listed.items() >= {"name": "api", "hosts": ["a.test"], "agents": ["alpha"], "source": "file",
                                  "header": "X-Api-Key", "has_value": True}.items()
        assert "last_used" not in listed
        assert "never" in operator.does("secrets")
        assert control.do("agent", agent="alpha")["agent"]["policy"]["opened"] == ["a.test", "b.test"]
        assert "\n  opened      a.test, b.test\n" in operator.does("agents", "alpha")
        assert Inside(keyed, proxy).get("/v1").status == 200
        used = control.do("secrets")["secrets"][0]["last_used"]
        control.do("reload")
        assert control.do("secrets")["secrets"][0]["last_used"] == used
        trust = control.do("trust", agent="alpha")
        assert trust["ca"] == Path(proxy.stile_ca).read_text()
        assert trust["environment"] == {"API_KEY": "sk-placeholder-1"}
    assert used in operator.does("secrets") and VALUE not in operator.does("secrets", "--json")


def test_explain_judges_the_request_itself(keyed):
    proxy = keyed.start()
    operator = Operator(proxy)
    port = keyed.port
    for words, code, word in [
            ([f"POST https://a.test:{port}/v1"], 0, "allow"), (["POST", f"https://a.test:{port}/v1"], 0, "allow"),
            ([f"GET https://a.test:{port}/sk-placeholder-1"], 1, "placeholder-misplaced"),
            ([f"GET https://b.test:{port}/x?y=sk-placeholder-1"], 1, "placeholder-misplaced")]:
        done = operator("explain", "alpha", *words)
        assert done.code == code and word in done.out, (words, done)
        asked = " ".join(words)
        assert done.out.splitlines()[0].endswith(f"  alpha {asked}"), done
    assert_untouched(keyed.origin, keyed.other)


def test_a_reload_that_takes_the_secret_away_ends_its_requests(keyed):
    keyed.origin.on("/slow", lambda exchange: until(lambda: False, 20))
    proxy = keyed.start()
    inside = Inside(keyed, proxy)
    inside.send("GET", "/slow")
    proxy.audit.wait_one(event="open")
    keyed.agents[0]["secrets"] = []
    proxy.write_config()
    with proxy.control() as control:
        control.do("reload")
    assert proxy.audit.wait_one(event="close")["reason"] == "revoked"
