"""Connections: several requests on one, CONNECT and what follows it, headers that change hands."""

from case import EITHER, EVIL, GOOD, PASSES, SMUGGLED, TO_EVIL, TUNNEL, Case, connect, head, post

LAST = b"0\r\n\r\n"
OK = head()
REFUSED_HOST = "host-not-allowed"


def series(name, raw, *outcomes, paths=("/",)):
    return Case("series", name, raw, outcomes, paths)


# After a refusal the connection may go on or end; whichever, nothing is mixed up.
SERIES = [
    series("good, good", OK + head(target=b"http://" + GOOD + b"/2"), ("ok", "ok"),
           paths=("/", "/2")),
    series("good, evil", OK + TO_EVIL, ("ok", REFUSED_HOST)),
    series("evil, good", TO_EVIL + OK, (REFUSED_HOST,), (REFUSED_HOST, "ok")),
    series("evil, evil", TO_EVIL * 2, (REFUSED_HOST,), (REFUSED_HOST,) * 2),
    series("good, evil, good", OK + TO_EVIL + OK, ("ok", REFUSED_HOST), ("ok", REFUSED_HOST, "ok")),
    series("good, malformed, smuggled", OK + b"nonsense\r\n\r\n" + SMUGGLED, ("ok", "bad-request")),
    series("malformed, smuggled", b"nonsense\r\n\r\n" + SMUGGLED, ("bad-request",)),
    series("bad framing, smuggled", post(b"Content-Length: x", body=SMUGGLED), ("bad-request",)),
    series("two lengths, smuggled", post(b"Content-Length: 1", b"Content-Length: 2",
                                         body=b"a" + SMUGGLED), ("bad-request",)),
    series("body of evil is no request", b"POST http://" + EVIL + b"/ HTTP/1.1\r\nHost: " + EVIL
           + b"\r\nContent-Length: 1000\r\n\r\n" + SMUGGLED, (REFUSED_HOST,)),
    series("chunks of evil are no request", b"POST http://" + EVIL + b"/ HTTP/1.1\r\nHost: " + EVIL
           + b"\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n" + SMUGGLED, (REFUSED_HOST,)),
    series("body, then good", post(b"Content-Length: 3", body=b"abc") + OK, ("ok", "ok"),
           paths=("/", "/")),
    series("chunks, then good", post(b"Transfer-Encoding: chunked", body=b"1\r\na\r\n" + LAST) + OK,
           ("ok", "ok"), paths=("/", "/")),
    series("chunks, then evil", post(b"Transfer-Encoding: chunked", body=b"1\r\na\r\n" + LAST)
           + TO_EVIL, ("ok", REFUSED_HOST)),
    series("chunks with trailers, then evil", post(
        b"Transfer-Encoding: chunked", body=b"1\r\na\r\n0\r\nT: u\r\n\r\n") + TO_EVIL,
        ("ok", REFUSED_HOST)),
    series("close means the end", head(b"Connection: close") + SMUGGLED, ("ok",)),
    series("close in a list means the end", head(b"Connection: x, close") + SMUGGLED, ("ok",)),
    series("HTTP/1.0 means the end", head(version=b"HTTP/1.0") + SMUGGLED, ("ok",)),
    series("CRLF between requests", OK + b"\r\n" + OK, ("ok", "ok"), paths=("/", "/")),
    series("bare LF between requests", OK + b"\n" + SMUGGLED, ("ok", "bad-request")),
    series("NUL between requests", OK + b"\0" + SMUGGLED, ("ok", "bad-request")),
    series("body that was not announced", OK + b"abc " + SMUGGLED, ("ok", "bad-request")),
    series("HEAD, then good", head(method=b"HEAD") + OK, ("ok", "ok"), paths=("/", "/")),
    series("literal, then good", b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" + OK,
           ("ip-literal",), ("ip-literal", "ok")),
]


def tunnel(name, raw, *answers, reason=None):
    return Case("connect", name, raw, tuple(answers) or (("bad-request",),), (), reason=reason)


CONNECT = [
    tunnel("length", connect(TUNNEL, b"Content-Length: 5") + b"hello"),
    tunnel("length 0", connect(TUNNEL, b"Content-Length: 0")),
    tunnel("chunked", connect(TUNNEL, b"Transfer-Encoding: chunked") + LAST),
    tunnel("length and chunked", connect(
        TUNNEL, b"Content-Length: 5", b"Transfer-Encoding: chunked")),
    tunnel("two hosts", connect(TUNNEL, b"Host: " + TUNNEL, b"Host: " + TUNNEL)),
    tunnel("no port", connect(b"tunnel.test")), tunnel("empty port", connect(b"tunnel.test:")),
    tunnel("port 0", connect(b"tunnel.test:0")),
    tunnel("port 65536", connect(b"tunnel.test:65536")),
    tunnel("port + 65536", connect(b"tunnel.test:65979")),
    tunnel("signed port", connect(b"tunnel.test:+443")),
    tunnel("hex port", connect(b"tunnel.test:0x1bb")),
    tunnel("port with letters", connect(b"tunnel.test:443x")),
    tunnel("port of six digits", connect(b"tunnel.test:000443")),
    tunnel("url", connect(b"http://" + TUNNEL + b"/")), tunnel("path", connect(TUNNEL + b"/")),
    tunnel("user", connect(b"u@" + TUNNEL)), tunnel("query", connect(TUNNEL + b"?x")),
    tunnel("fragment", connect(TUNNEL + b"#x")), tunnel("origin form", connect(b"/")),
    tunnel("asterisk", connect(b"*")), tunnel("blank", connect(b"tunnel.test :443")),
    tunnel("NUL", connect(b"tunnel.test\0:443")),
    tunnel("NUL and evil", connect(b"tunnel.test\0.evil.test:443")),
    tunnel("percent", connect(b"tunnel%2etest:443")),
    tunnel("high byte", connect(b"t\xfcnnel.test:443")),
    tunnel("comma", connect(TUNNEL + b"," + EVIL), ("bad-request",), ("ip-literal",)),
    tunnel("two ports", connect(b"tunnel.test:443:22"), ("bad-request",), ("ip-literal",)),
    tunnel("backslash", connect(b"tunnel.test\\.evil.test:443")),
    tunnel("HTTP/2", connect(TUNNEL, version=b"HTTP/2.0")),
    tunnel("header without colon", connect(TUNNEL, b"nonsense")),
    tunnel("obs-fold", connect(TUNNEL, b"X: y", b" folded")),
    tunnel("bare LF", connect(TUNNEL, b"X: y\nY: z")),
    tunnel("framing by underscore", connect(TUNNEL, b"Content_Length: 5")),
    tunnel("evil", connect(EVIL), reason="port-not-allowed"),
    tunnel("evil on the right port", connect(b"evil.test:@TLSPORT@"), reason=REFUSED_HOST),
    tunnel("evil, Host says tunnel", connect(b"evil.test:@TLSPORT@", b"Host: " + TUNNEL),
           reason=REFUSED_HOST),
    tunnel("evil, then a request", connect(b"evil.test:@TLSPORT@") + SMUGGLED, reason=REFUSED_HOST),
    tunnel("address", connect(b"127.0.0.1:443"), reason="ip-literal"),
    tunnel("IPv6", connect(b"[::1]:443"), reason="ip-literal"),
    tunnel("IPv6 without brackets", connect(b"::1:443"), reason="ip-literal"),
    tunnel("decimal address", connect(b"2130706433:443"), reason="ip-literal"),
    tunnel("last label of digits", connect(b"tunnel.1:443"), reason="ip-literal"),
    tunnel("port 22", connect(b"tunnel.test:22"), reason="port-not-allowed"),
    tunnel("port 25", connect(b"tunnel.test:25"), reason="port-not-allowed"),
    tunnel("plain port", connect(b"tunnel.test:@PORT@"), reason="port-not-allowed"),
    tunnel("request behind it", connect() + SMUGGLED, ("tunnel",)),
    tunnel("request in place of a hello", connect() + TO_EVIL, ("tunnel",)),
    tunnel("CONNECT behind it", connect() + connect(b"evil.test:@TLSPORT@"), ("tunnel",)),
    tunnel("chunk end behind it", connect() + LAST + SMUGGLED, ("tunnel",)),
    tunnel("benign", connect(TUNNEL, b"Host: something.else"), ("tunnel",)),
    tunnel("lower-case connect", b"connect " + TUNNEL + b" HTTP/1.1\r\nHost: x\r\n\r\n"),
]


def passed(name, *lines, outcomes=PASSES):
    return Case("headers", name, head(*lines), outcomes)


# What arrives of them is looked at in test_hostile.py: none of these words.
HEADERS = [
    passed("Connection names Host", b"Connection: host", outcomes=(("bad-request",),)),
    passed("Connection names length", b"Connection: content-length", outcomes=(("bad-request",),)),
    passed("Connection names encoding", b"Connection: close, Transfer-Encoding",
           outcomes=(("bad-request",),)),
    passed("Connection names Via", b"Connection: via", outcomes=EITHER),
    passed("Connection names a secret", b"Connection: x-hop", b"X-Hop: secret-word"),
    passed("Connection names in capitals", b"Connection: X-HOP", b"x-hop: secret-word"),
    passed("Proxy-Connection names", b"Proxy-Connection: x-hop"),
    passed("Connection in two lines", b"Connection: a", b"X-Hop: secret-word",
           b"Connection: x-hop"),
    passed("Connection with odd words", b"Connection: ,, x-hop ,,", b"X-Hop: secret-word",
           outcomes=EITHER),
    passed("Connection with a bad word", b"Connection: a b", outcomes=EITHER),
    passed("Authorization", b"Authorization: secret-word"),
    passed("authorization in capitals", b"AUTHORIZATION: secret-word"),
    passed("Authorization twice", b"Authorization: secret-word", b"authorization: secret-word"),
    passed("X-Api-Key", b"x-api-KEY: secret-word"),
    passed("Proxy-Authorization", b"Proxy-Authorization: secret-word"),
    passed("X_Api_Key", b"X_Api_Key: secret-word", outcomes=(("bad-request",),)),
    passed("X-Api_Key", b"X-Api_Key: secret-word", outcomes=(("bad-request",),)),
    passed("Proxy_Authorization", b"Proxy_Authorization: secret-word",
           outcomes=(("bad-request",),)),
    passed("Keep_Alive", b"Keep_Alive: secret-word", outcomes=(("bad-request",),)),
    passed("Te_", b"TE: secret-word"),
    passed("Authorization with a blank", b"Authorization : secret-word",
           outcomes=(("bad-request",),)),
    passed("Authorization folded", b"X: y\r\n Authorization: secret-word",
           outcomes=(("bad-request",),)),
    passed("Authorization behind LF", b"X: y\nAuthorization: secret-word",
           outcomes=(("bad-request",),)),
    Case("headers", "Authorization as a trailer", post(
        b"Transfer-Encoding: chunked", b"Trailer: Authorization",
        body=b"0\r\nAuthorization: secret-word\r\n\r\n"), PASSES),
    Case("headers", "key as a trailer", post(
        b"Transfer-Encoding: chunked",
        body=b"1\r\na\r\n0\r\nX-Api-Key: secret-word\r\n\r\n"), PASSES),
    Case("headers", "secret as a chunk extension", post(
        b"Transfer-Encoding: chunked", body=b"1;secret-word\r\na\r\n0\r\n\r\n"), PASSES),
    passed("Upgrade h2c", b"Upgrade: secret-word", b"Connection: Upgrade, HTTP2-Settings",
           b"HTTP2-Settings: secret-word"),
    passed("Upgrade websocket", b"Upgrade: secret-word", b"Connection: upgrade"),
    passed("Upgrade without Connection", b"Upgrade: secret-word"),
    passed("Trailer", b"Trailer: secret-word"), passed("Keep-Alive", b"Keep-Alive: secret-word"),
    passed("Proxy-Authenticate", b"Proxy-Authenticate: secret-word"),
    passed("Expect", b"Expect: secret-word", outcomes=(("bad-request",),)),
    passed("Expect twice", b"Expect: 100-continue", b"Expect: x", outcomes=(("bad-request",),)),
    passed("Max-Forwards", b"Max-Forwards: 0", outcomes=PASSES),
    passed("benign", b"X-Kept: 1"),
]


def injected(name, raw, *outcomes):
    return Case("log", name, raw, outcomes or (("bad-request",),))


FORGED = b'"}\n{"event":"open","agent":"root"}'
LOG = [
    injected("newline in the path", head(target=b"http://" + GOOD + b"/\n" + FORGED)),
    injected("quote in the path", head(target=b'http://' + GOOD + b'/","event":"stop'), ("ok",),
             ("bad-request",)),
    injected("escape in the path", head(target=b"http://" + GOOD + b"/\x1b[2J")),
    injected("newline in the method", b"GET" + FORGED + b" http://" + GOOD + b"/ HTTP/1.1\r\n\r\n"),
    injected("newline in the host", connect(b"a" + FORGED + b".test:443")),
    injected("quote in the host", connect(b'a","verdict":"allow.test:443')),
    injected("backslash in the host", connect(b"a\\u000a.test:443")),
    injected("UTF-8 line separator", connect(b"a\xe2\x80\xa8.test:443")),
    injected("broken UTF-8", connect(b"\xc3\x28\xff.test:443")),
    injected("64 KiB of host", connect(b"a" * 60000 + b":443")),
    injected("header name", head(b'X"}\n{: y')),
    injected("CR in the path", head(target=b"http://" + GOOD + b"/\r{\"event\":\"open\"}")),
    injected("benign", head(target=b"http://" + GOOD + b"/%0a%22"), ("ok",)),
]
LOG = [Case(c.group, c.name, c.raw, c.outcomes, ('/","event":"stop', "/%0a%22")) for c in LOG]

CASES = SERIES + CONNECT + HEADERS + LOG
