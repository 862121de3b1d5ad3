"""Inside TLS: what a request may do on a host that is opened."""

import ssl

import pytest
from harness.checks import assert_denied, assert_untouched
from harness.dns import silent
from harness.http_origin import polite, response
from harness.inside import Inside, try_tls
from harness.wait import until


@pytest.fixture
def opened(world):
    """One opened host, one sealed one."""
    world.origin = world.tls_origin("a.test")
    world.sealed = world.tls_origin("b.test")
    world.agent("alpha", allow=["b.test"], request=[
        {"host": "a.test", "paths": ["/repos/acme/**", "/scoped/@x%2fy"]},
        {"host": "a.test", "methods": ["POST"], "paths": ["/graphql"], "max_body": 20},
    ])
    return world


def test_an_allowed_request_reaches_the_origin_and_has_its_own_lines(opened):
    proxy = opened.start()
    inside = Inside(opened, proxy)
    answer = inside.get("/repos/acme/app?token=1", "X-Mine: 1")
    assert (answer.status, answer.body) == (200, b"ok")
    request = opened.origin.requests[0]
    assert (request.method, request.target) == ("GET", "/repos/acme/app?token=1")
    assert request.value("host") == f"a.test:{opened.port}" and request.value("x-mine") == "1"
    line = proxy.audit.only(event="open")
    assert (line["scheme"], line["tls"], line["host"], line["path"], line["method"]) == \
        ("https", "opened", "a.test", "/repos/acme/app", "GET")
    assert line["rule"].startswith("a.test (")
    close = proxy.audit.wait_one(event="close")
    assert close["scheme"] == "https" and close["status"] == 200 and close["bytes_down"] > 0


def test_a_connection_serves_many_requests_and_each_is_decided(opened):
    proxy = opened.start()
    inside = Inside(opened, proxy)
    for _ in range(3):
        assert inside.get("/repos/acme/app").status == 200
        assert inside.get("/other").reason == "path-not-allowed"
    assert opened.origin.paths() == ["/repos/acme/app"] * 3
    assert len(opened.origin.connections) == 1
    assert len(proxy.audit.entries(event="deny", reason="path-not-allowed", scheme="https")) >= 1


@pytest.mark.parametrize("method, target, reason", [
    ("DELETE", "/repos/acme/app", "method-not-allowed"),
    ("POST", "/repos/acme/app", "path-not-allowed"),
    ("GET", "/repos/acmex/app", "path-not-allowed"),
    ("GET", "/repos/acme", "path-not-allowed"),
    ("GET", "/REPOS/acme/app", "path-not-allowed"),
    ("GET", "/repos/acme/%2fapp", "path-not-allowed"),
    ("GET", "/repos/acme//app", "bad-request"),
    ("GET", "/repos/acme/../x", "bad-request"),
    ("GET", "/repos/acme/..;/x", "bad-request"),
    ("GET", "/repos/acme/./x", "bad-request"),
    ("GET", "/repos/acme/%2e%2E/x", "bad-request"),
    ("GET", "/repos/acme/%252e%252e/x", "bad-request"),
    ("GET", "/repos/acme/x%5cy", "bad-request"),
    ("GET", "/repos/acme/x%00", "bad-request"),
    ("GET", "/repos/acme/x%zz", "bad-request"),
    ("CONNECT", "a.test:443", "bad-request"),
    ("GET", "http://a.test/repos/acme/app", "bad-request"),
    ("GET", "*", "bad-request"),
])
def test_a_request_that_no_entry_allows_is_refused(opened, method, target, reason):
    proxy = opened.start()
    answer = Inside(opened, proxy).ask(method, target)
    line = assert_denied(proxy, answer, reason)
    assert (line["scheme"], line["tls"], line["host"]) == ("https", "opened", "a.test")
    assert_untouched(opened.origin)


@pytest.mark.parametrize("name", ["X-HTTP-Method-Override", "x-http-method", "X_Method_Override"])
def test_a_field_that_names_another_method_is_refused(opened, name):
    proxy = opened.start()
    inside = Inside(opened, proxy)
    assert_denied(proxy, inside.get("/repos/acme/app", f"{name}: delete"), "method-not-allowed")
    assert_untouched(opened.origin)
    assert inside.get("/repos/acme/app", f"{name}: GET").status == 200


def test_a_parameter_that_names_another_method_is_refused(opened):
    proxy = opened.start()
    inside = Inside(opened, proxy)
    assert_denied(proxy, inside.get("/repos/acme/app?a=1&%5Fmethod=delete"), "method-not-allowed")
    assert_untouched(opened.origin)
    assert inside.get("/repos/acme/app?_method=GET").status == 200


@pytest.mark.parametrize("name", ["X-Original-URL", "x_rewrite_url"])
def test_a_field_that_names_another_path_is_refused(opened, name):
    proxy = opened.start()
    inside = Inside(opened, proxy)
    assert_denied(proxy, inside.get("/repos/acme/app", f"{name}: /admin"), "bad-request")
    assert_untouched(opened.origin)


@pytest.mark.parametrize("field", [
    "X-Forwarded-Host: b.test", "x_forwarded_host: b.test", "X-Forwarded-Host: a.test, b.test",
    "X-Forwarded-Host: ", "X-Host: b.test", "X-Original-Host: b.test:{port}", "X-Forwarded-Server: b.test",
    "X-HTTP-Host-Override: b.test", "Forwarded: for=192.0.2.1;host=b.test",
])
def test_a_field_that_names_another_host_is_refused(opened, field):
    """Some servers choose the tenant by it, and would give it the secret of this one."""
    proxy = opened.start()
    inside = Inside(opened, proxy)
    assert_denied(proxy, inside.get("/repos/acme/app", field.format(port=opened.port)), "host-mismatch")
    assert_untouched(opened.origin)
    assert inside.get("/repos/acme/app", f"X-Forwarded-Host: a.test:{opened.port}").status == 200
    assert inside.get("/repos/acme/app", "X-Forwarded-For: 192.0.2.1").status == 200


def test_an_encoded_slash_passes_where_the_pattern_writes_it(opened):
    inside = Inside(opened, opened.start())
    assert inside.get("/scoped/@x%2Fy").status == 200
    assert inside.get("/scoped/@x/y").reason == "path-not-allowed"
    assert inside.get("/scoped/@x%2F..").reason == "bad-request"
    assert opened.origin.paths() == ["/scoped/@x%2Fy"]


@pytest.mark.parametrize("host, target", [
    ("b.test", "/repos/acme/app"), ("a.test", "/repos/acme/app"), ("a.test:1", "/repos/acme/app"),
    ("x.a.test", "/repos/acme/app"), (None, "https://b.test/repos/acme/app"),
])
def test_another_authority_inside_is_refused_and_the_connection_goes_on(opened, host, target):
    proxy = opened.start()
    inside = Inside(opened, proxy)
    assert_denied(proxy, inside.ask("GET", target, host=host), "host-mismatch")
    assert_untouched(opened.origin, opened.sealed)
    assert inside.get("/repos/acme/app").status == 200


def test_the_absolute_form_of_the_tunnel_itself_works(opened):
    inside = Inside(opened, opened.start())
    target = f"https://A.test.:{opened.port}/repos/acme/app"
    assert inside.ask("GET", target, host=f"A.test:{opened.port}").status == 200
    assert opened.origin.requests[0].target == "/repos/acme/app"


def test_a_body_above_max_body_is_refused_however_it_is_framed(opened):
    proxy = opened.start()
    assert Inside(opened, proxy).ask("POST", "/graphql", body=b"x" * 20).status == 200
    assert_denied(proxy, Inside(opened, proxy).ask("POST", "/graphql", body=b"x" * 21),
                  "body-too-large")
    inside = Inside(opened, proxy)
    inside.send("POST", "/graphql", ["Transfer-Encoding: chunked"])
    inside.client.send(b"a\r\n0123456789\r\nb\r\n0123456789A\r\n0\r\n\r\n")
    assert inside.client.read_response("POST").reason == "body-too-large"
    assert proxy.audit.wait_one(event="close", reason="body-too-large")["verdict"] == "deny"
    assert not any(request.complete for request in opened.origin.requests[1:])


def test_a_sealed_host_keeps_its_own_certificate(opened):
    proxy = opened.start()
    client = proxy.client()
    assert client.connect_to("b.test", opened.port).status == 200
    assert try_tls(client, "b.test", opened.certificates.ca_file) is None
    client.send(f"DELETE / HTTP/1.1\r\nHost: b.test:{opened.port}\r\n\r\n".encode())
    assert client.read_response().status == 200
    assert proxy.audit.only(event="open")["scheme"] == "connect"


def test_only_http1_is_spoken(opened):
    proxy = opened.start()
    client = proxy.client()
    assert client.connect_to("a.test", opened.port).status == 200
    error = try_tls(client, "a.test", proxy.stile_ca, protocols=["h2"])
    assert "no application protocol" in str(error)
    assert proxy.audit.wait_one(event="deny")["reason"] == "no-application-protocol"
    client = proxy.client()
    assert client.connect_to("a.test", opened.port).status == 200
    assert try_tls(client, "a.test", proxy.stile_ca, protocols=["h2", "http/1.1"]) is None
    assert client.sock.selected_alpn_protocol() == "http/1.1"


def test_a_client_without_the_ca_ends_the_connection_and_has_a_line(opened):
    proxy = opened.start()
    client = proxy.client()
    assert client.connect_to("a.test", opened.port).status == 200
    assert isinstance(try_tls(client, "a.test", opened.certificates.ca_file),
                      ssl.SSLCertVerificationError)
    assert proxy.audit.wait_one(event="deny")["reason"] == "client-tls-failed"
    assert_untouched(opened.origin)
    assert proxy.metrics().total("stile_tls_handshakes_total", agent="alpha", side="client",
                                 result="failed") == 1


@pytest.mark.parametrize("name, reason", [("b.test", "sni-mismatch"), (None, "sni-missing")])
def test_the_hello_must_name_the_host_whatever_sni_says(opened, name, reason):
    opened.agents[0]["sni"] = "off"
    proxy = opened.start()
    client = proxy.client()
    assert client.connect_to("a.test", opened.port).status == 200
    context = ssl.create_default_context(cafile=proxy.stile_ca)
    context.check_hostname = False
    with pytest.raises((ssl.SSLError, ConnectionError)):
        context.wrap_socket(client.sock, server_hostname=name)
    assert proxy.audit.wait_one(event="deny")["reason"] == reason


def test_what_is_not_tls_is_never_relayed(opened):
    proxy = opened.start()
    client = proxy.client()
    assert client.connect_to("a.test", opened.port).status == 200
    client.send(b"GET /repos/acme/app HTTP/1.1\r\n\r\n")
    client.recv_to_end()
    assert proxy.audit.wait_one(event="deny")["reason"] == "not-tls"
    assert_untouched(opened.origin)


def test_plain_http_to_a_host_with_entries_follows_them_too(opened):
    plain = opened.http_origin("a.test")
    opened.dns.host("a.test", plain.address)
    proxy = opened.start()
    url = f"http://a.test:{opened.http_port}"
    assert proxy.client().get(f"{url}/repos/acme/x").status == 200
    assert_denied(proxy, proxy.client().get(f"{url}/other"), "path-not-allowed")
    assert plain.paths() == ["/repos/acme/x"]


def test_a_host_of_an_entry_alone_is_allowed_for_these_requests_and_no_others(opened):
    proxy = opened.start()
    assert proxy.connect("c.test", opened.port).reason == "host-not-allowed"
    opened.agents[0]["deny"] = ["a.test"]
    proxy.write_config()
    with proxy.control() as control:
        control.do("reload")
    assert proxy.connect("a.test", opened.port).reason == "host-denied"


# Streaming.

def test_events_leave_as_they_come(opened):
    def events(exchange):
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        until(lambda: exchange.request.extra.get("seen"))
        exchange.send(b"4\r\nlast\r\n0\r\n\r\n")
    opened.origin.on("/repos/acme/events", events)
    inside = Inside(opened, opened.start())
    inside.send("GET", "/repos/acme/events")
    inside.client.read_head()
    assert inside.client.recv_exactly(10) == b"5\r\nfirst\r\n"
    opened.origin.requests[0].extra["seen"] = True
    assert inside.client.recv_exactly(14) == b"4\r\nlast\r\n0\r\n\r\n"


def test_large_bodies_pass_whole_in_both_directions(world):
    size = 3_000_000
    body = bytes(range(256)) * (size // 256)
    origin = world.tls_origin("a.test")
    origin.default = polite(body)
    world.agent("alpha", request=[{"host": "a.test", "methods": ["*"]}])
    inside = Inside(world, world.start())
    assert inside.ask("PUT", "/x", body=body).body == body
    assert origin.requests[0].body == body


def test_an_answer_without_a_length_that_is_cut_off_does_not_look_finished(opened):
    def cut(exchange):
        exchange.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf")
        exchange.conn.sock.shutdown(2)  # without close_notify
        return False
    opened.origin.on("/repos/acme/cut", cut)
    proxy = opened.start()
    inside = Inside(opened, proxy)
    inside.send("GET", "/repos/acme/cut", ["Connection: close"])
    with pytest.raises((ssl.SSLError, ConnectionError, AssertionError)):
        answer = inside.client.read_response()
        assert answer.complete, "cut"
    assert proxy.audit.wait_one(event="close")["reason"] == "origin-bad-response"


# WebSocket.

UPGRADE = ["Connection: keep-alive, Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: x"]


def accept_websocket(exchange):
    exchange.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                  b"Connection: Upgrade\r\nSec-WebSocket-Accept: y\r\n\r\nhello")
    while data := exchange.conn.recv():
        exchange.send(data.upper())
    return False


def test_a_websocket_is_relayed_where_the_entry_says_so(world):
    origin = world.tls_origin("a.test")
    origin.on("/socket", accept_websocket)
    world.agent("alpha", request=[{"host": "a.test", "websocket": True}])
    proxy = world.start()
    inside = Inside(world, proxy)
    inside.send("GET", "/socket", UPGRADE)
    status, _, _, headers, _ = inside.client.read_head()
    assert status == 101 and ("Sec-WebSocket-Accept", "y") in headers
    assert inside.client.recv_exactly(5) == b"hello"
    inside.client.send(b"frame")
    assert inside.client.recv_exactly(5) == b"FRAME"
    assert origin.requests[0].value("upgrade") == "websocket"
    inside.client.close()
    close = proxy.audit.wait_one(event="close")
    assert close["status"] == 101 and close["bytes_down"] > 10


@pytest.mark.parametrize("more", [["Content-Length: 5"], ["Transfer-Encoding: chunked"]])
def test_a_websocket_with_a_body_is_refused(world, more):
    """Two readers: one sees a body, the other frames."""
    origin = world.tls_origin("a.test")
    origin.on("/socket", accept_websocket)
    world.agent("alpha", request=[{"host": "a.test", "websocket": True}])
    proxy = world.start()
    inside = Inside(world, proxy)
    inside.send("GET", "/socket", [*UPGRADE, *more])
    inside.client.send(b"hello")
    assert_denied(proxy, inside.client.read_response(), "bad-request")
    assert_untouched(origin)


def test_a_websocket_is_refused_elsewhere(opened):
    proxy = opened.start()
    answer = Inside(opened, proxy).get("/repos/acme/socket", *UPGRADE)
    assert_denied(proxy, answer, "upgrade-not-allowed")
    assert_untouched(opened.origin)


def test_revoking_ends_a_websocket(world):
    origin = world.tls_origin("a.test")
    origin.on("/socket", accept_websocket)
    world.agent("alpha", request=[{"host": "a.test", "websocket": True}])
    proxy = world.start()
    inside = Inside(world, proxy)
    inside.send("GET", "/socket", UPGRADE)
    inside.client.read_head()
    with proxy.control() as control:
        control.do("revoke", agent="alpha", hosts=["a.test"])
    assert proxy.audit.wait_one(event="close")["reason"] == "revoked"


# Live changes.

def reload_with(world, proxy, **entry):
    world.agents[0].update(entry)
    proxy.write_config()
    with proxy.control() as control:
        control.do("reload")


def test_a_reload_that_opens_a_host_resets_its_sealed_tunnels(opened):
    proxy = opened.start()
    client = proxy.client()
    assert client.connect_to("b.test", opened.port).status == 200
    assert try_tls(client, "b.test", opened.certificates.ca_file) is None
    reload_with(opened, proxy, request=[{"host": "b.test"}])
    assert proxy.audit.wait_one(event="close", host="b.test")["reason"] == "revoked"
    assert Inside(opened, proxy, "b.test").get("/").status == 200


def test_a_reload_that_narrows_cuts_a_request_and_refuses_the_next(opened):
    opened.origin.on("/repos/acme/slow", lambda exchange: until(lambda: False, 20))
    proxy = opened.start()
    slow, idle = Inside(opened, proxy), Inside(opened, proxy)
    assert idle.get("/repos/acme/app").status == 200
    slow.send("GET", "/repos/acme/slow")
    proxy.audit.wait_one(event="open", path="/repos/acme/slow")
    reload_with(opened, proxy, request=[{"host": "a.test", "paths": ["/only"]}])
    assert proxy.audit.wait_one(event="close", path="/repos/acme/slow")["reason"] == "revoked"
    assert idle.get("/repos/acme/app").reason == "path-not-allowed"
    assert idle.get("/only").status == 200
    reload_with(opened, proxy, request=[])
    assert idle.client.is_closed()


def test_entries_that_a_reload_brings_hold_for_plain_requests_that_wait(world):
    """When their heads were read, no rule judged methods and paths."""
    origin = world.http_origin("p.test")
    world.dns.script("p.test", silent())
    world.agent("alpha", allow=["p.test"])
    proxy = world.start(dns={"timeout_ms": 6000})
    with proxy.client() as client:
        client.send(f"GET http://p.test:{world.http_port}/other HTTP/1.1\r\n"
                    f"Host: p.test:{world.http_port}\r\n\r\n".encode())
        world.dns.wait_question("p.test")
        reload_with(world, proxy, request=[{"host": "p.test", "paths": ["/only"]}])
        world.dns.host("p.test", origin.address)  # when it is asked again
        assert_denied(proxy, client.read_response(), "revoked")
    assert proxy.client().get(f"http://p.test:{world.http_port}/only").status == 200
    assert origin.paths() == ["/only"]


def test_entries_that_a_reload_brings_cut_a_plain_request_that_nothing_has_judged(world):
    origin = world.http_origin("p.test")
    origin.default = lambda exchange: until(lambda: False, 20)
    world.agent("alpha", allow=["p.test"])
    proxy = world.start()
    with proxy.client() as client:
        client.send(f"GET http://p.test:{world.http_port}/other HTTP/1.1\r\n"
                    f"Host: p.test:{world.http_port}\r\n\r\n".encode())
        proxy.audit.wait_one(event="open", path="/other")
        reload_with(world, proxy, request=[{"host": "a.test"}])  # another host
        reload_with(world, proxy, request=[{"host": "p.test", "paths": ["/only"]}])
        assert client.read_response().reason == "revoked"
    lines = proxy.audit.entries(event="close")
    assert [(line["path"], line["reason"], line["policy"]) for line in lines] == [("/other", "revoked", 3)]


def test_a_line_is_written_before_the_first_byte_goes_to_the_origin(opened):
    proxy = opened.start()
    seen = []
    opened.origin.on("/repos/acme/x", lambda exchange: (
        seen.append(len(proxy.audit.entries(event="open"))), exchange.send(response())))
    assert Inside(opened, proxy).get("/repos/acme/x").status == 200
    assert seen == [1]


def test_observe_mode_records_and_lets_through(opened):
    opened.agents[0]["mode"] = "observe"
    proxy = opened.start()
    assert Inside(opened, proxy).get("/other").status == 200
    line = proxy.audit.only(event="open")
    assert (line["verdict"], line["reason"]) == ("would-deny", "path-not-allowed")
