"""Heads: request lines, header lines and targets that two parsers read in two ways."""

from case import EITHER, EVIL, GOOD, PASSES, SMUGGLED, Case, head

CONTROLS = [b for b in range(0x20) if b not in (0x09, 0x0A, 0x0D)] + [0x7F]
URL = b"http://" + GOOD + b"/"


def line(name, first, outcomes=None, **options):
    raw = first + b"\r\nHost: " + GOOD + b"\r\n\r\n"
    if outcomes:
        options["outcomes"] = outcomes
    return Case("request line", name, raw, **options)


REQUEST_LINE = [
    line("two blanks", b"GET  " + URL + b" HTTP/1.1"), line("tab", b"GET\t" + URL + b"\tHTTP/1.1"),
    line("two blanks before the version", b"GET " + URL + b"  HTTP/1.1"),
    line("blank at the start", b" GET " + URL + b" HTTP/1.1"),
    line("blank at the end", b"GET " + URL + b" HTTP/1.1 "),
    line("no version", b"GET " + URL), line("no target", b"GET HTTP/1.1"),
    line("nothing but a method", b"GET"), line("empty method", b" " + URL + b" HTTP/1.1"),
    line("a word too many", b"GET " + URL + b" x HTTP/1.1"),
    line("method with a colon", b"GET: " + URL + b" HTTP/1.1"),
    line("method in brackets", b"(GET) " + URL + b" HTTP/1.1"),
    line("method with a slash", b"GET/ " + URL + b" HTTP/1.1"),
    line("method of high bytes", b"G\xc3\x8bT " + URL + b" HTTP/1.1"),
    line("lower-case version", b"GET " + URL + b" http/1.1"),
    line("version 2", b"GET " + URL + b" HTTP/2.0"),
    line("version 1.2", b"GET " + URL + b" HTTP/1.2"),
    line("version 0.9", b"GET " + URL + b" HTTP/0.9"),
    line("version 11", b"GET " + URL + b" HTTP/11"),
    line("version 1.10", b"GET " + URL + b" HTTP/1.10"),
    line("version 01.1", b"GET " + URL + b" HTTP/01.1"),
    line("version with a blank", b"GET " + URL + b" HTTP/1. 1"),
    line("version with NUL", b"GET " + URL + b" HTTP/1.1\0"),
    line("bare CR at the end", b"GET " + URL + b" HTTP/1.1\r"),
    line("bare LF within", b"GET " + URL + b"\n HTTP/1.1"),
    line("bare CR within", b"GET " + URL + b"\r HTTP/1.1"),
    line("another request within", b"GET " + URL + b" HTTP/1.1\nX: " + URL + b" HTTP/1.1"),
    Case("request line", "bare LF only", b"GET " + URL + b" HTTP/1.1\nHost: " + GOOD + b"\n\n"),
    Case("request line", "bare CR only", b"GET " + URL + b" HTTP/1.1\rHost: " + GOOD + b"\r\r"),
    Case("request line", "LF LF at the end",
         b"GET " + URL + b" HTTP/1.1\r\nHost: " + GOOD + b"\n\n"),
    Case("request line", "h2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    Case("request line", "TLS", b"\x16\x03\x01\x00\x05hello\r\n\r\n"),
    Case("request line", "SOCKS 5", b"\x05\x01\x00\r\n\r\n"),
    Case("request line", "SOCKS 4", b"\x04\x01\x00\x50\x7f\x00\x00\x01x\x00\r\n\r\n"),
    Case("request line", "PROXY protocol", b"PROXY TCP4 127.0.0.9 127.0.0.1 1 2\r\n" + head()),
    Case("request line", "PROXY protocol, binary",
         b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c" + bytes(12) + head()),
    Case("request line", "NUL", b"\0" + head()),
    Case("request line", "bare LF before", b"\n" + head()),
    Case("request line", "bare CR before", b"\r" + head()),
    Case("request line", "empty lines before", b"\r\n\r\n" + head(), PASSES),
    Case("request line", "benign", head(), PASSES),
]


def field(name, *lines, **options):
    return Case("header line", name, head(*lines), **options)


HEADER_LINE = [
    *[field(f"control byte {byte:#04x} in a value", b"X: a" + bytes([byte]) + b"b")
      for byte in CONTROLS],
    *[field(f"{chr(byte)!r} in a name", b"X" + bytes([byte]) + b"Y: z")
      for byte in b"\x00\x01\t (),/;<=>?@[\\]{}\"\x7f\x80\xff"],
    field("no colon", b"nonsense"), field("only a colon", b":"), field("no name", b": x"),
    field("blank before the colon", b"X : y"), field("tab before the colon", b"X\t: y"),
    field("obs-fold", b"X: y", b" folded"), field("obs-fold with a tab", b"X: y", b"\tfolded"),
    field("obs-fold of blanks", b"X: y", b"   "),
    Case("header line", "obs-fold as the first line",
         b"GET " + URL + b" HTTP/1.1\r\n X: y\r\nHost: " + GOOD + b"\r\n\r\n"),
    field("bare LF", b"X: a\nY: b"), field("bare CR", b"X: a\rY: b"),
    field("CR CR LF", b"X: a\r"), field("LF CR", b"X: a\n\rY: b"),
    field("request behind a bare LF", b"X: a\n\n" + SMUGGLED.rstrip(b"\r\n")),
    field("request behind a bare CR", b"X: a\r\r" + SMUGGLED.rstrip(b"\r\n")),
    field("high bytes in a value", b"X: \xc3\xa4\xff", outcomes=EITHER),
    field("tab in a value", b"X: a\tb", outcomes=EITHER),
    field("empty value", b"X:", outcomes=PASSES),
    field("odd but legal name", b"!#$%&'*+-.^`|~: x", outcomes=EITHER),
]


def target(name, text, outcomes=None, reason=None, host=None):
    raw = b"GET " + text + b" HTTP/1.1\r\nHost: " + (host or GOOD) + b"\r\n\r\n"
    options = {"outcomes": outcomes} if outcomes else {}
    return Case("target", name, raw, reason=reason, **options)


TARGET = [
    target("origin form", b"/"), target("asterisk", b"*"), target("authority form", GOOD),
    target("scheme-relative", b"//" + GOOD + b"/"), target("https", b"https://" + GOOD + b"/"),
    target("ftp", b"ftp://" + GOOD + b"/"), target("gopher", b"gopher://" + GOOD + b"/"),
    target("file", b"file:///etc/passwd"), target("ws", b"ws://" + GOOD + b"/"),
    target("one slash", b"http:/" + GOOD + b"/"), target("no slash", b"http:" + GOOD + b"/"),
    target("three slashes", b"http:///" + GOOD + b"/"), target("no host", b"http:///"),
    target("backslashes", b"http:\\\\" + GOOD + b"/"),
    target("user", b"http://u@" + GOOD + b"/"),
    target("user and password", b"http://u:p@" + GOOD + b"/"),
    target("empty user", b"http://@" + GOOD + b"/"),
    target("good as the user of evil", b"http://" + GOOD + b"@" + EVIL + b"/"),
    target("evil as the user of good", b"http://" + EVIL + b"@" + GOOD + b"/"),
    target("backslash and at", b"http://" + EVIL + b"\\@" + GOOD + b"/"),
    target("backslash before the path", b"http://" + GOOD + b"\\"),
    target("backslash in the path", b"http://" + GOOD + b"/\\"),
    target("backslash in the query", b"http://" + GOOD + b"/?\\"),
    target("fragment", b"http://" + GOOD + b"/#x"),
    target("fragment at once", b"http://" + GOOD + b"#x"),
    target("fragment and at", b"http://" + EVIL + b"#@" + GOOD + b"/"),
    Case("target", "query and at", head(target=b"http://" + GOOD + b"?@" + EVIL + b"/"), EITHER,
         ("/?@@EVIL@/",)),
    target("percent in the host", b"http://good%2etest/"),
    target("encoded slash in the host", b"http://" + GOOD + b"%2f/"),
    target("NUL in the host", b"http://good.test\0.evil.test/"),
    target("encoded NUL in the host", b"http://good.test%00.evil.test/"),
    target("blank in the path", b"http://" + GOOD + b"/a b"),
    target("tab in the path", b"http://" + GOOD + b"/a\tb"),
    target("NUL in the path", b"http://" + GOOD + b"/a\0b"),
    target("DEL in the path", b"http://" + GOOD + b"/\x7f"),
    target("high byte in the path", b"http://" + GOOD + b"/\xff"),
    target("UTF-8 in the path", b"http://" + GOOD + b"/\xc3\xa4"),
    target("semicolon in the host", b"http://good.test;evil.test/"),
    target("comma in the host", b"http://good.test,evil.test/"),
    target("fullwidth dot", b"http://good\xef\xbc\x8etest/"),
    target("ideographic dot", b"http://good\xe3\x80\x82test/"),
    target("soft hyphen", b"http://go\xc2\xadod.test/"),
    target("two dots", b"http://good..test/"), target("dot first", b"http://.good.test/"),
    target("two dots at the end", b"http://good.test../"),
    target("underscore", b"http://go_od.test/"), target("hyphen first", b"http://-good.test/"),
    target("port 0", b"http://good.test:0/"), target("port 65536", b"http://good.test:65536/"),
    target("port with sign", b"http://good.test:+80/"), target("empty port", b"http://good.test:/"),
    target("two ports", b"http://good.test:80:81/", outcomes=(("bad-request",), ("ip-literal",))),
    target("port of letters", b"http://good.test:80x/"),
    target("dotted address", b"http://127.0.0.1/", reason="ip-literal", host=b"127.0.0.1"),
    target("decimal address", b"http://2130706433/", reason="ip-literal", host=b"2130706433"),
    target("hex address", b"http://0x7f000001/", reason="ip-literal", host=b"0x7f000001"),
    target("octal address", b"http://0177.0.0.1/", reason="ip-literal", host=b"0177.0.0.1"),
    target("short address", b"http://127.1/", reason="ip-literal", host=b"127.1"),
    target("address with a dot", b"http://127.0.0.1./", reason="ip-literal", host=b"127.0.0.1."),
    target("IPv6 address", b"http://[::1]/", reason="ip-literal", host=b"[::1]"),
    target("mapped address", b"http://[::ffff:127.0.0.1]/", reason="ip-literal",
           host=b"[::ffff:127.0.0.1]"),
    target("zone id", b"http://[fe80::1%25lo]/", reason="ip-literal", host=b"[fe80::1%25lo]"),
    target("unclosed bracket", b"http://[::1/", reason="ip-literal", host=b"[::1"),
    target("metadata address", b"http://169.254.169.254/latest/meta-data/", reason="ip-literal",
           host=b"169.254.169.254"),
    target("evil", b"http://" + EVIL + b"/", reason="host-not-allowed", host=EVIL),
    target("evil with a dot", b"http://evil.test./", reason="port-not-allowed", host=b"evil.test."),
    target("good with suffix", b"http://good.test.evil.test:@PORT@/", reason="host-not-allowed",
           host=b"good.test.evil.test:@PORT@"),
    target("good with prefix", b"http://evilgood.test:@PORT@/", reason="host-not-allowed",
           host=b"evilgood.test:@PORT@"),
    target("benign in capitals", b"HTTP://GOOD.TEST:@PORT@/", outcomes=PASSES),
    target("benign with a dot", b"http://good.test.:@PORT@/", outcomes=PASSES),
]


def host(name, *lines, outcomes=None, version=b"HTTP/1.1"):
    raw = head(*lines, host=False, version=version)
    return Case("host", name, raw, **({"outcomes": outcomes} if outcomes else {}))


HOST = [
    host("missing"), host("evil", b"Host: " + EVIL), host("without port", b"Host: good.test"),
    host("other port", b"Host: good.test:1"), host("empty", b"Host:"), host("blank", b"Host:   "),
    host("twice the same", b"Host: " + GOOD, b"Host: " + GOOD),
    host("good, then evil", b"Host: " + GOOD, b"Host: " + EVIL),
    host("evil, then good", b"Host: " + EVIL, b"Host: " + GOOD),
    host("twice in other letters", b"Host: " + GOOD, b"hOST: " + EVIL),
    host("list", b"Host: " + GOOD + b", " + EVIL),
    host("two names", b"Host: " + GOOD + b" " + EVIL),
    host("user", b"Host: u@" + GOOD), host("good as user", b"Host: " + GOOD + b"@" + EVIL),
    host("path", b"Host: " + GOOD + b"/"), host("url", b"Host: http://" + GOOD),
    host("fragment", b"Host: " + GOOD + b"#"), host("query", b"Host: " + GOOD + b"?x"),
    host("NUL", b"Host: " + GOOD + b"\0"), host("NUL and evil", b"Host: good.test\0.evil.test"),
    host("blank before colon", b"Host : " + GOOD), host("tab before colon", b"Host\t: " + GOOD),
    host("folded", b"Host: " + GOOD, b" evil"), host("folded at once", b"Host:", b" " + GOOD),
    host("evil hidden behind LF", b"Host: " + GOOD + b"\nHost: " + EVIL),
    host("evil hidden behind CR", b"Host: " + GOOD + b"\rHost: " + EVIL),
    host("underscore", b"Ho_st: " + GOOD), host("blank before name", b" Host: " + GOOD),
    host("named by Connection", b"Host: " + GOOD, b"Connection: Host"),
    host("sub-domain", b"Host: a." + GOOD), host("two dots", b"Host: good..test"),
    host("address", b"Host: 127.0.0.1"), host("percent", b"Host: good%2etest:@PORT@"),
    host("HTTP/1.0 with evil", b"Host: " + EVIL, version=b"HTTP/1.0"),
    host("HTTP/1.0 twice", b"Host: " + GOOD, b"Host: " + GOOD, version=b"HTTP/1.0"),
    host("HTTP/1.0 without", version=b"HTTP/1.0", outcomes=PASSES),
    host("X-Forwarded-Host is nothing", b"Host: " + GOOD, b"X-Forwarded-Host: " + EVIL,
         outcomes=PASSES),
    host("in capitals", b"HOST: GOOD.TEST:@PORT@", outcomes=PASSES),
    host("benign", b"Host: " + GOOD, outcomes=PASSES),
]

CASES = REQUEST_LINE + HEADER_LINE + TARGET + HOST
