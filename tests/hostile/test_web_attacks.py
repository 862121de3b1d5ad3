"""stile-web under attack: each way in that a page, a neighbour or an agent could try."""

import json
import socket

import pytest
from harness.wait import until
from harness.web import StileWeb

pytestmark = pytest.mark.hostile_bytes


@pytest.fixture(scope="module")
def proxy(shared_world):
    shared_world.agent("alpha", allow=[])
    return shared_world.start()


@pytest.fixture(scope="module")
def web(shared_world, proxy):
    return StileWeb(shared_world, proxy)


@pytest.fixture(scope="module")
def browser(web):
    return web.browser()


def mode(web):
    return web.browser().get("/api/v1/status").json["mode"]


STOP = ("/api/v1/mode", {"mode": "offline"})


@pytest.mark.parametrize("token", ["", "0" * 64, "\u00e4", "a" * 60000])
def test_wrong_token_is_refused(web, token):
    reply = web.stranger().post("/api/v1/login", {"token": token})
    assert (reply.status, reply.code) == (401, "bad-token") and "set-cookie" not in reply.headers


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"token":1}', b'{"token":"a"', b"\xff\x00"])
def test_malformed_login_is_refused(web, body):
    assert web.stranger().request("POST", "/api/v1/login", body).status == 400


def test_cookie_is_kept_from_scripts_and_other_sites(web):
    reply = web.stranger().post("/api/v1/login", {"token": web.token()})
    attributes = reply.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(attributes)
    assert not any(part.startswith("Domain") for part in attributes)


@pytest.mark.parametrize("path", ["/api/v1/status", "/api/v1/policy", "/api/v1/events", "/api/v1/hosts"])
def test_nothing_is_shown_without_a_session(web, browser, path):
    assert web.stranger().get(path).code == "no-session"
    assert web.stranger().get(path, Cookie="stile-web=" + "0" * 64, X_Stile_CSRF=browser.csrf).code == "no-session"


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:3000", "null", "", None])
def test_stolen_cookie_is_useless_from_another_origin(web, browser, origin):
    """Even with the second secret, which such a page cannot have."""
    assert browser.post(*STOP, Origin=origin).code == "foreign-origin"
    assert mode(web) == "enforce"


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_browser_tells_that_another_site_asks(browser, site):
    assert browser.get("/api/v1/status", Origin=None, Sec_Fetch_Site=site).code == "foreign-origin"


@pytest.mark.parametrize("csrf", [None, "", "0" * 64])
def test_cookie_alone_changes_and_shows_nothing(web, browser, csrf):
    assert browser.post(*STOP, X_Stile_CSRF=csrf).code == "no-csrf"
    assert browser.get("/api/v1/status", X_Stile_CSRF=csrf).code == "no-csrf"
    assert browser.get("/api/v1/events", X_Stile_CSRF=csrf).code == "no-csrf"
    assert mode(web) == "enforce"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_form_of_another_page_cannot_post(browser, kind):
    assert browser.post(*STOP, Content_Type=kind).code == "not-json"


@pytest.mark.parametrize("host", ["evil.example:9129", "evil.example", "127.0.0.1.evil.example", "", None])
def test_host_of_another_name_is_refused(web, browser, host):
    """DNS rebinding: the foreign name has resolved to this address."""
    assert browser.get("/api/v1/status", Host=host, Origin=f"http://{host}").code == "wrong-host"
    assert web.stranger().get("/", Host=host, Origin=None).code == "wrong-host"
    reply = web.stranger().post("/api/v1/login", {"token": web.token()}, Host=host, Origin=f"http://{host}")
    assert reply.code == "wrong-host"


def raw(web, data, until_closed=True):
    with socket.create_connection((web.address, 9129), timeout=30) as sock:
        sock.sendall(data)
        parts = []
        while until_closed and (part := sock.recv(65536)):
            parts.append(part)
        return b"".join(parts)


def test_two_hosts_are_refused(web):
    answer = raw(web, f"GET / HTTP/1.1\r\nHost: {web.authority}\r\nHost: evil.example\r\n"
                      "Connection: close\r\n\r\n".encode())
    assert b"200 OK" not in answer.split(b"\r\n")[0]


@pytest.mark.parametrize("path", ["/", "/main.js", "/nothing", "/api/v1/status"])
def test_every_answer_forbids_frames_foreign_scripts_and_referrers(web, path):
    headers = web.stranger().get(path, Origin=None).headers
    policy = headers["content-security-policy"]
    for part in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'",
                 "form-action 'none'", "require-trusted-types-for 'script'"):
        assert part in policy
    assert "unsafe" not in policy
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers and "set-cookie" not in headers


def test_preflight_of_another_origin_gets_no_permission(browser):
    reply = browser.request("OPTIONS", "/api/v1/mode", Origin="http://evil.example",
                            Access_Control_Request_Method="POST")
    assert reply.status in (403, 405) and not [name for name in reply.headers if name.startswith("access-control")]


def test_second_request_cannot_hide_in_a_body(web, browser):
    for body in (b'{"mode":"enforce"}\n{"action":"mode","mode":"offline"}',
                 b'{"mode":"enforce","action":"drain"}', b'{"mode":"enforce","mode":"offline"}'):
        assert browser.request("POST", "/api/v1/mode", body).code == "bad-request"
    reply = browser.request("POST", "/api/v1/policy/alpha/mode", b'{"mode":"offline","agent":"beta"}')
    assert reply.code == "bad-request"
    assert mode(web) == "enforce"


@pytest.mark.parametrize("action", ["drain", "reload", "put-agent", "remove-agent", "adopt-listener", "adopt-capture"])
def test_actions_that_no_page_needs_do_not_exist(browser, action):
    for path in (f"/api/v1/{action}", f"/api/v1/policy/alpha/{action}"):
        assert browser.post(path).code == "not-found"


def test_oversized_head_is_refused(web):
    answer = raw(web, b"GET / HTTP/1.1\r\nX: " + b"a" * 9000 + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 431") or answer == b""


def test_oversized_body_is_refused_before_it_is_read(browser):
    reply = browser.request("POST", "/api/v1/mode", b"x" * 65537)
    assert (reply.status, reply.code) == (413, "too-large")


@pytest.mark.parametrize("data", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", b"GET / HTTP/9.9\r\n\r\n", b"\r\n\r\n\0\0",
                                  b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"])
def test_noise_is_closed(web, data):
    assert b"200" not in raw(web, data + b"\r\n\r\n").split(b"\r\n")[0]


def test_slow_requests_are_cut_and_others_are_served(web, browser):
    """A request that never ends is closed; its neighbours do not wait for it."""
    slow = []
    for _ in range(20):
        sock = socket.create_connection((web.address, 9129), timeout=40)
        sock.sendall(b"GET / HTTP/1.1\r\nHo")
        slow.append(sock)
    assert browser.get("/api/v1/status").status == 200
    assert all(sock.recv(100) == b"" for sock in slow)
    for sock in slow:
        sock.close()


def idle_clients(web, count):
    """Some send nothing, some half a request, some do not read a long answer."""
    half = b"GET /api/v1/status HTTP/1.1\r\nHo"
    whole = f"GET /main.js HTTP/1.1\r\nHost: {web.authority}\r\n\r\n".encode()
    held = []
    for number in range(count):
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        sock.settimeout(30)
        sock.connect((web.address, 9129))
        sock.sendall((b"", half, whole * 200)[number % 3])
        held.append(sock)
    return held


def test_idle_clients_keep_nobody_out(web, browser):
    held = idle_clients(web, 300)
    try:
        for _ in range(20):
            assert browser.get("/api/v1/status").status == 200
        assert held[0].recv(10) == b""  # the oldest one gave way
    finally:
        for sock in held:
            sock.close()


def refused_client(web):
    sock = socket.create_connection((web.address, 9129), timeout=30)
    sock.sendall(b"GET / HTTP/1.1\r\nX: " + b"a" * 9000)
    while sock.recv(65536):
        pass
    return sock


def test_refused_client_that_goes_on_sending_is_cut(web):
    with refused_client(web) as sock:
        def is_cut():
            try:
                sock.send(b"a")
            except OSError:
                return True
            return False
        until(is_cut, 10, "the end of the connection")


def test_refused_clients_keep_nobody_out(web, browser):
    held = [refused_client(web) for _ in range(128)]
    try:
        assert browser.get("/api/v1/status").status == 200
    finally:
        for sock in held:
            sock.close()


def test_too_many_pages_are_refused(browser):
    streams = []
    try:
        while True:
            stream = browser.events()
            streams.append(stream)
            if stream.answer.status != 200:
                break
        assert len(streams) == 17 and stream.answer.status == 503
    finally:
        for stream in streams:
            stream.__exit__()
    until(lambda: browser.events().answer.status == 200, 20, "a place for a page")


NAMES = ["<img src=x onerror=alert(1)>.test", '"},{"event":"grant', "</script>", "a\u00e4.test", "x" * 2000]


@pytest.mark.parametrize("name", NAMES)
def test_host_names_of_an_agent_stay_data(browser, proxy, shared_world, name):
    with browser.events("agent=alpha") as events:
        events.wait("lines")
        client = proxy.client("alpha")
        client.send(f"CONNECT {name}:{shared_world.port} HTTP/1.1\r\n\r\n".encode("latin-1"))
        line = events.wait_line(event="deny", agent="alpha")
        assert line["verdict"] == "deny" and line["reason"] in ("bad-request", "host-not-allowed")
    json.dumps(browser.get("/api/v1/hosts?agent=alpha").json)


def test_no_secret_is_logged(web, browser):
    token = web.token()
    web.stranger().post("/api/v1/login", {"token": token})
    text = web.log_text()
    for secret in (token, browser.cookie, browser.csrf):
        assert secret not in text


def test_logout_ends_the_session(web):
    browser = web.browser()
    assert browser.post("/api/v1/logout").status == 200
    assert browser.get("/api/v1/status").code == "no-session"


AGENT_PATHS = ["/agents/alpha/.well-known/agent-card.json", "/agents/alpha/tasks", "/agents/alpha/files", "/agents/alpha/stream"]


@pytest.mark.parametrize("path", AGENT_PATHS)
def test_routes_of_workers_refuse_other_names_and_other_sites(web, path):
    token = "Bearer " + "0" * 64
    assert web.stranger().get(path, Host="evil.example:9129", Authorization=token).status == 421
    assert web.stranger().get(path, Origin="http://evil.example", Authorization=token).code == "foreign-origin"
    assert web.stranger().get(path, Sec_Fetch_Site="cross-site", Authorization=token).code == "foreign-origin"
    assert "access-control-allow-origin" not in web.stranger().get(path, Authorization=token).headers


def test_routes_of_workers_take_no_cookie_for_a_token(web, browser):
    for path in AGENT_PATHS[1:]:
        answer = browser.get(path)
        assert answer.status == 401 and answer.headers["www-authenticate"].startswith("Bearer")
    assert browser.post("/agents/alpha/rpc", {"jsonrpc": "2.0", "id": 1, "method": "ListTasks"}).status == 401


@pytest.mark.parametrize("token", ["", " ", "\t", "x" * 257, "é", "a b", '"', "\\"])
def test_tokens_that_cannot_be_one_never_reach_the_spawner(web, token):
    answer = web.stranger().get("/agents/alpha/tasks", Authorization=f"Bearer {token}".encode("utf-8").decode("latin-1"))
    assert answer.status == 401, answer


def test_without_a_spawner_a_token_is_not_believed(web):
    for method, path in (("GET", "/tasks"), ("POST", "/rpc"), ("POST", "/message:send")):
        body = b"{}" if method == "POST" else None
        assert web.stranger().request(method, f"/agents/alpha{path}", body, Authorization="Bearer " + "0" * 64).status == 503


def test_a_body_without_json_type_is_refused_for_workers(web):
    answer = web.stranger().request("POST", "/agents/alpha/rpc", b"{}", Content_Type="text/plain",
                                    Authorization="Bearer " + "0" * 64)
    assert answer.code == "not-json"
