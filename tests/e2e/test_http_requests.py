"""Plain HTTP: what a forwarded request looks like when it arrives."""

import pytest
from harness.checks import assert_denied, assert_refusal, assert_untouched

pytestmark = pytest.mark.hostile_bytes


@pytest.fixture
def http(world):
    """(proxy, origin, base URL) with one allowed origin h.test."""
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    return world.start(), origin, f"http://h.test:{world.http_port}"


def send_raw(proxy, data, method="GET"):
    with proxy.client() as client:
        client.send(data)
        return client.read_response(method)


def test_request_is_forwarded_in_origin_form(http, world):
    proxy, origin, base = http
    answer = proxy.get(base + "/a/b?c=d&e=%20")
    assert (answer.status, answer.body) == (200, b"ok")
    request = origin.requests[0]
    assert (request.method, request.target, request.version) == (
        "GET", "/a/b?c=d&e=%20", "HTTP/1.1")
    assert request.values("host") == [f"h.test:{world.http_port}"]
    line = proxy.audit.only(event="open")
    assert (line["method"], line["scheme"], line["host"], line["port"], line["path"]) == (
        "GET", "http", "h.test", world.http_port, "/a/b")


def test_curl_fetches_plain_http(http):
    proxy, origin, base = http
    run = proxy.curl(base + "/curl")
    assert (run.code, run.out, run.status) == (0, b"ok", 200)
    assert origin.paths() == ["/curl"]


def test_target_without_a_path_becomes_a_slash(http):
    proxy, origin, base = http
    assert proxy.get(base).status == 200
    assert proxy.get(base + "?q").status == 200
    assert origin.paths() == ["/", "/?q"]


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD",
                                    "PROPFIND", "M-SEARCH", "x"])
def test_method_is_passed_on_as_it_is(http, method):
    proxy, origin, base = http
    answer = proxy.get(base + "/m", method=method, body=None if method == "HEAD" else b"abc")
    assert answer.status == 200
    assert origin.requests[0].method == method


def test_scheme_is_read_without_case(http, world):
    proxy, origin, _ = http
    authority = f"h.test:{world.http_port}"
    request = f"GET HTTP://{authority}/ HTTP/1.1\r\nHost: {authority}\r\n\r\n"
    answer = send_raw(proxy, request.encode())
    assert answer.status == 200
    assert origin.paths() == ["/"]


@pytest.mark.parametrize("target", [
    "/", "*", "h.test", "//h.test:{p}/", "https://h.test:{p}/", "ftp://h.test:{p}/",
    "ws://h.test:{p}/", "http:/h.test:{p}/", "http:h.test:{p}/", "http:///", "http://:{p}/",
    "http://h.test:/", "http://u@h.test:{p}/", "http://u:p@h.test:{p}/", "http://@h.test:{p}/",
    "http://h.test:{p}/#f",
    "http://h.test:{p}#", "http://h.test:{p}\\", "http:\\\\h.test:{p}/", "http://h.test:{p}/a\\b",
    "http://h.test:{p}\\@p.test/", "http://p.test\\@h.test:{p}/", "http://h.test:{p}@p.test/",
    "http://h.test#@p.test:{p}/", "http://h.test:{p}/\x7f", "http://h.test:{p}/\xe4",
    "http://h.test;p.test:{p}/", "http://h.test,p.test:{p}/", "http://h.test%2ep.test:{p}/",
    "http://h.test:{p}/a b", "\thttp://h.test:{p}/", "http://h.test:{p}/\x00", "file:///etc/passwd",
    "http+unix://h.test:{p}/", "javascript:http://h.test:{p}/"])
def test_odd_target_is_refused(http, world, target):
    proxy, origin, _ = http
    text = target.format(p=world.http_port)
    answer = send_raw(proxy, f"GET {text} HTTP/1.1\r\nHost: h.test\r\n\r\n".encode("latin-1"))
    assert_refusal(answer, "bad-request")
    assert_untouched(origin)


# Host.

def host_request(world, host_lines, version="1.1"):
    return (f"GET http://h.test:{world.http_port}/ HTTP/{version}\r\n{host_lines}\r\n").encode(
        "latin-1")


@pytest.mark.parametrize("value", ["h.test:{p}", "H.TEST:{p}", "h.test.:{p}", "  h.test:{p}  "])
def test_host_that_means_the_same_is_rewritten(http, world, value):
    proxy, origin, _ = http
    line = f"Host: {value.format(p=world.http_port)}\r\n"
    assert send_raw(proxy, host_request(world, line)).status == 200
    assert origin.requests[0].values("host") == [f"h.test:{world.http_port}"]


@pytest.mark.parametrize("lines", [
    "", "Host: p.test\r\n", "Host: h.test\r\n", "Host: h.test:1\r\n", "Host: a.h.test:{p}\r\n",
    "Host:\r\n", "Host: h.test:{p}, p.test\r\n", "Host: h.test:{p} p.test\r\n",
    "Host: u@h.test:{p}\r\n", "Host: h.test:{p}/\r\n", "Host: http://h.test:{p}\r\n",
    "Host: h.test:{p}\r\nHost: h.test:{p}\r\n", "Host: h.test:{p}\r\nhost: p.test\r\n",
    "Host: p.test\r\nHost: h.test:{p}\r\n", "Host : h.test:{p}\r\n", " Host: h.test:{p}\r\n",
    "Host: h.test:{p}\r\n folded\r\n", "Host: \x00h.test:{p}\r\n", "Host: h.test:{p}\x0b\r\n"])
def test_host_that_disagrees_is_refused(http, world, lines):
    proxy, origin, _ = http
    answer = send_raw(proxy, host_request(world, lines.format(p=world.http_port)))
    assert_refusal(answer, "bad-request")
    assert_untouched(origin)


def test_refusal_for_another_host_names_what_the_url_names(http, world):
    proxy, _, _ = http
    body = assert_refusal(send_raw(proxy, host_request(world, "Host: p.test\r\n")), "bad-request")
    assert (body["host"], body["port"]) == ("h.test", world.http_port)
    assert f"refused h.test:{world.http_port} for agent" in body["message"]
    line = proxy.audit.only(event="deny", reason="bad-request")
    assert (line["host"], line["port"]) == ("h.test", world.http_port)


def test_http_1_0_needs_no_host(http, world):
    proxy, origin, _ = http
    answer = send_raw(proxy, host_request(world, "", "1.0"))
    assert answer.status == 200
    assert origin.requests[0].values("host") == [f"h.test:{world.http_port}"]


@pytest.mark.parametrize("lines", ["Host: p.test\r\n", "Host: h.test:{p}\r\nHost: h.test:{p}\r\n"])
def test_http_1_0_with_a_wrong_host_is_refused(http, world, lines):
    proxy, origin, _ = http
    text = lines.format(p=world.http_port)
    assert_refusal(send_raw(proxy, host_request(world, text, "1.0")), "bad-request")
    assert_untouched(origin)


@pytest.mark.parametrize("version", ["HTTP/2.0", "HTTP/1.2", "HTTP/0.9", "HTTP/11", "HTTP/1.10",
                                     "http/1.1", "HTTP/1.1x", "", "FTP/1.1", "HTTP/1", "HTTP/1."])
def test_other_version_is_refused(http, world, version):
    proxy, origin, base = http
    answer = send_raw(proxy, f"GET {base}/ {version}\r\nHost: h.test:{world.http_port}\r\n\r\n"
                      .encode())
    assert_refusal(answer, "bad-request")
    assert_untouched(origin)


# Headers.

def headers_at_origin(http, world, *headers, method="GET"):
    proxy, origin, base = http
    answer = proxy.get(base + "/", headers=headers, method=method)
    assert answer.status == 200, answer
    return origin.requests[-1]


def test_end_to_end_headers_arrive_unchanged_and_in_order(http, world):
    sent = ["Accept: */*", "X-One: 1", "Cookie: a=b; c=\"d\"", "X-Two:", "X-one: again",
            "User-Agent: me/1 (x; y)", "X-Bytes: caf\xe9 \xff", "X_Odd: 1", "X-Tab: a\tb"]
    request = headers_at_origin(http, world, *sent)
    expected = [tuple(part.strip() for part in line.split(":", 1)) for line in sent]
    assert [pair for pair in request.headers if pair in expected] == expected


def test_via_is_added_and_no_address_is_told(http, world):
    request = headers_at_origin(http, world)
    assert len(request.values("via")) == 1 and "1.1" in request.value("via")
    names = set(request.names())
    assert not names & {"x-forwarded-for", "forwarded", "x-real-ip", "client-ip"}
    assert world.addresses["alpha"].encode() not in request.raw_head
    assert b"alpha" not in request.raw_head


def test_via_of_the_client_is_kept(http, world):
    request = headers_at_origin(http, world, "Via: 1.0 before")
    assert "1.0 before" in ", ".join(request.values("via"))
    assert len(", ".join(request.values("via")).split(",")) == 2


@pytest.mark.parametrize("header", [
    "Connection: close", "Connection: keep-alive", "Proxy-Connection: keep-alive",
    "Keep-Alive: timeout=5", "TE: trailers", "Trailer: X-T", "Upgrade: websocket", "Upgrade: h2c",
    "Proxy-Authorization: Basic c2VjcmV0", "Proxy-Authenticate: Basic", "HTTP2-Settings: AAMAAABk"])
def test_hop_by_hop_header_stays_here(http, world, header):
    extra = ["Connection: HTTP2-Settings"] if header.startswith("HTTP2") else []
    request = headers_at_origin(http, world, header, *extra)
    name = header.split(":")[0].lower()
    if name == "connection":  # the proxy may speak for itself here
        assert request.value("connection") in (None, "close", "keep-alive")
    else:
        assert name not in request.names()


def test_header_that_connection_names_stays_here(http, world):
    request = headers_at_origin(http, world, "Connection: x-secret, X-OTHER ,close", "X-Secret: 1",
                                "x-other: 2", "X-Kept: 3")
    assert not {"x-secret", "x-other"} & set(request.names())
    assert request.value("x-kept") == "3"


def test_header_named_in_one_of_several_connection_lines_stays_here(http, world):
    request = headers_at_origin(http, world, "Connection: keep-alive", "X-Secret: 1",
                                "Connection: x-secret")
    assert "x-secret" not in request.names()


@pytest.mark.parametrize("name", ["Host", "host", "Content-Length", "Transfer-Encoding",
                                  "close, Host", "content-length,keep-alive"])
def test_connection_may_not_name_host_or_framing(http, world, name):
    proxy, origin, base = http
    answer = proxy.get(base + "/", headers=[f"Connection: {name}"])
    assert_refusal(answer, "bad-request")
    assert_untouched(origin)


STRIPPED = ["Authorization", "authorization", "AUTHORIZATION", "X-Api-Key", "x-API-key",
            "Proxy-Authorization"]


@pytest.mark.parametrize("name", STRIPPED)
def test_credentials_are_stripped_in_any_spelling(http, world, name):
    proxy, origin, base = http
    answer = proxy.get(base + "/", headers=[f"{name}: hunter2", "X-Kept: 1", f"{name}: hunter3"])
    assert answer.status == 200
    assert b"hunter" not in origin.received
    assert origin.requests[0].value("x-kept") == "1"
    line = proxy.audit.only(event="open")
    if name.lower() != "proxy-authorization":
        assert name.lower() in [entry.lower() for entry in line["stripped"]]
    assert "hunter" not in proxy.audit.tail()


def test_list_of_stripped_headers_is_configurable(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"], strip_request_headers=["Cookie", "X-Mine"])
    proxy = world.start()
    proxy.get(f"http://h.test:{world.http_port}/",
              headers=["cookie: c=1", "x-mine: 2", "Authorization: kept"])
    request = origin.requests[0]
    assert not {"cookie", "x-mine"} & set(request.names())
    assert request.value("authorization") == "kept"


@pytest.mark.parametrize("name", [
    "Transfer_Encoding: chunked", "Content_Length: 5", "content_length: 0", "X_Api_Key: s",
    "X-Api_Key: s", "Proxy_Authorization: s", "Proxy_Connection: close", "Keep_Alive: 1"])
def test_underscore_spelling_of_a_special_header_is_refused(http, world, name):
    proxy, origin, base = http
    assert_refusal(proxy.get(base + "/", headers=[name]), "bad-request")
    assert_untouched(origin)


def test_each_request_has_its_own_open_line_before_it_arrives(http):
    proxy, origin, base = http
    seen = []

    def on_request(exchange):
        seen.append([line["path"] for line in proxy.audit.entries(event="open")])
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    origin.default = on_request
    with proxy.client() as client:
        for number in range(5):
            assert client.get(f"{base}/{number}").status == 200
    assert seen == [[f"/{n}" for n in range(number + 1)] for number in range(5)]


def test_query_never_reaches_the_log(http):
    proxy, origin, base = http
    assert proxy.get(base + "/p?token=hunter2").status == 200
    assert_denied(proxy, proxy.get("http://evil.test:1/p?token=hunter2"), "port-not-allowed")
    assert "hunter2" not in proxy.audit.path.read_text()
    assert origin.paths() == ["/p?token=hunter2"]
