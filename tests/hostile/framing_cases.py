"""Framing: two lengths, two readers. Each row would hide a second request from one of them."""

from case import CUT, EITHER, PASSES, SMUGGLED, Case, head, post

CHUNKED = b"Transfer-Encoding: chunked"
LAST = b"0\r\n\r\n"
SIZE = str(len(SMUGGLED.replace(b"@GOOD@", b"good.test:12345"))).encode()


def both(name, *lines, body=LAST + SMUGGLED, **options):
    return Case("length and encoding", name, post(*lines, body=body), **options)


LENGTH_AND_ENCODING = [
    both("length, then chunked", b"Content-Length: 5", CHUNKED),
    both("chunked, then length", CHUNKED, b"Content-Length: 5"),
    both("length 0, then chunked", b"Content-Length: 0", CHUNKED),
    both("chunked, then length 0", CHUNKED, b"Content-Length: 0"),
    both("length of everything", b"Content-Length: 500", CHUNKED),
    both("chunked in capitals", b"Content-Length: 5", b"TRANSFER-ENCODING: CHUNKED"),
    both("unknown encoding and length", b"Transfer-Encoding: xchunked", b"Content-Length: 5"),
    both("gzip and length", b"Transfer-Encoding: gzip", b"Content-Length: 5"),
    both("length and identity", b"Content-Length: 5", b"Transfer-Encoding: identity"),
    both("bad length and chunked", b"Content-Length: x", CHUNKED),
    both("empty length and chunked", b"Content-Length:", CHUNKED),
    both("length and empty encoding", b"Content-Length: 5", b"Transfer-Encoding:"),
    both("two lengths and chunked", b"Content-Length: 5", b"Content-Length: 5", CHUNKED),
    both("benign: only a length", b"Content-Length: 5", body=b"hello", outcomes=PASSES),
    both("benign: only chunks", CHUNKED, body=LAST, outcomes=PASSES),
    both("others in between", b"Content-Length: 5", b"X-A: 1", b"X-B: 2", CHUNKED),
]


def encoding(name, *lines, body=LAST + SMUGGLED, **options):
    return Case("transfer encoding", name, post(*lines, body=body), **options)


ENCODING = [
    encoding("in capitals", b"Transfer-Encoding: CHUNKED", body=LAST, outcomes=EITHER),
    encoding("mixed letters", b"Transfer-Encoding: Chunked", body=LAST, outcomes=EITHER),
    encoding("name in other letters", b"tRANSFER-eNCODING: chunked", body=LAST, outcomes=PASSES),
    encoding("tab before", b"Transfer-Encoding:\tchunked", body=LAST, outcomes=EITHER),
    encoding("blanks around", b"Transfer-Encoding:   chunked  ", body=LAST, outcomes=EITHER),
    encoding("x before", b"Transfer-Encoding: xchunked"),
    encoding("x after", b"Transfer-Encoding: chunkedx"),
    encoding("quoted", b'Transfer-Encoding: "chunked"'),
    encoding("single quotes", b"Transfer-Encoding: 'chunked'"),
    encoding("parameter", b"Transfer-Encoding: chunked;q=1"),
    encoding("semicolon", b"Transfer-Encoding: chunked;"),
    encoding("comma after", b"Transfer-Encoding: chunked,"),
    encoding("comma before", b"Transfer-Encoding: ,chunked"),
    encoding("twice in one line", b"Transfer-Encoding: chunked, chunked"),
    encoding("twice", CHUNKED, CHUNKED),
    encoding("chunked and identity", CHUNKED, b"Transfer-Encoding: identity"),
    encoding("identity and chunked", b"Transfer-Encoding: identity", CHUNKED),
    encoding("identity, chunked", b"Transfer-Encoding: identity, chunked"),
    encoding("gzip, chunked", b"Transfer-Encoding: gzip, chunked"),
    encoding("chunked, gzip", b"Transfer-Encoding: chunked, gzip"),
    encoding("gzip", b"Transfer-Encoding: gzip"),
    encoding("identity", b"Transfer-Encoding: identity"),
    encoding("nothing", b"Transfer-Encoding:"),
    encoding("blank", b"Transfer-Encoding:  "),
    encoding("vertical tab before", b"Transfer-Encoding:\x0bchunked"),
    encoding("vertical tab after", b"Transfer-Encoding: chunked\x0b"),
    encoding("form feed", b"Transfer-Encoding: \x0cchunked"),
    encoding("NUL after", b"Transfer-Encoding: chunked\0"),
    encoding("NUL within", b"Transfer-Encoding: chu\0nked"),
    encoding("byte 0xa0 before", b"Transfer-Encoding: \xa0chunked"),
    encoding("blank before colon", b"Transfer-Encoding : chunked"),
    encoding("tab before colon", b"Transfer-Encoding\t: chunked"),
    encoding("blank before name", b" Transfer-Encoding: chunked"),
    encoding("blank before name, later", b"X: y", b" Transfer-Encoding: chunked"),
    encoding("folded", b"Transfer-Encoding:\r\n chunked"),
    encoding("folded with tab", b"Transfer-Encoding:\r\n\tchunked"),
    encoding("folded behind", b"Transfer-Encoding: chunked\r\n , identity"),
    encoding("behind a bare LF", b"X: y\nTransfer-Encoding: chunked"),
    encoding("behind a bare CR", b"X: y\rTransfer-Encoding: chunked"),
    encoding("with a second CR", b"Transfer-Encoding: chunked\r"),
    encoding("underscore", b"Transfer_Encoding: chunked"),
    encoding("NUL in its name", b"Transfer-\0Encoding: chunked"),
    encoding("no colon", b"Transfer-Encoding chunked"),
    encoding("no dash", b"Transfer Encoding: chunked"),
    encoding("name in quotes", b'"Transfer-Encoding": chunked'),
    encoding("high byte in its name", b"Transfer-Encoding\xff: chunked"),
    Case("transfer encoding", "HTTP/1.0", post(CHUNKED, body=LAST + SMUGGLED, version=b"HTTP/1.0")),
    Case("transfer encoding", "HTTP/1.0 kept alive", post(
        CHUNKED, b"Connection: keep-alive", body=LAST + SMUGGLED, version=b"HTTP/1.0")),
    Case("transfer encoding", "named by Connection", post(
        CHUNKED, b"Connection: transfer-encoding", body=LAST + SMUGGLED)),
    Case("transfer encoding", "GET with chunks", head(CHUNKED) + LAST, outcomes=PASSES),
]


def length(name, value, body=b"hello", lines=None, **options):
    return Case("content length", name, post(*(lines or [b"Content-Length:" + value]),
                                             body=body + SMUGGLED), **options)


LENGTH = [
    length("plus", b" +5"), length("minus", b" -5"), length("minus zero", b" -0"),
    length("hex", b" 0x5"), length("letters", b" 5x"), length("x before", b" x5"),
    length("float", b" 5.0"), length("exponent", b" 5e0"), length("octal mark", b" 0o5"),
    length("underscore", b" 1_0"), length("list", b" 5,5"), length("list with blank", b" 5, 5"),
    length("list that differs", b" 5, 6"), length("comma after", b" 5,"),
    length("comma before", b" ,5"), length("two numbers", b" 5 5"), length("nothing", b""),
    length("blank", b"  "), length("semicolon", b" 5;"), length("quoted", b' "5"'),
    length("2^64", b" 18446744073709551616"), length("2^64 + 5", b" 18446744073709551621"),
    length("2^63 + 5 negative", b" -9223372036854775803"),
    length("40 digits", b" " + b"9" * 40), length("2000 digits", b" " + b"9" * 2000),
    length("NUL after", b" 5\0"), length("NUL before", b" \x005"), length("vertical tab", b"\x0b5"),
    length("form feed", b" 5\x0c"), length("0xa0", b" \xa05"), length("arabic five", b" \xd9\xa5"),
    length("superscript", b" \xb2"), length("bare LF behind", b" 5\nX: y"),
    length("bare CR behind", b" 5\rX: y"), length("folded", b"\r\n 5"),
    length("folded digits", b" 5\r\n 0"),
    length("twice the same", b"", lines=[b"Content-Length: 5", b"Content-Length: 5"]),
    length("twice different", b"", lines=[b"Content-Length: 5", b"Content-Length: 0"]),
    length("0 and more", b"", lines=[b"Content-Length: 0", b"Content-Length: " + SIZE]),
    length("twice in other letters", b"", lines=[b"Content-Length: 5", b"content-length: 6"]),
    length("blank before colon", b"", lines=[b"Content-Length : 5"]),
    length("tab before colon", b"", lines=[b"Content-Length\t: 5"]),
    length("blank before name", b"", lines=[b" Content-Length: 5"]),
    length("underscore in its name", b"", lines=[b"Content_Length: 5"]),
    length("underscore and dash", b"", lines=[b"Content-Length: 5", b"Content_Length: 0"]),
    length("named by Connection", b"", lines=[b"Content-Length: 5", b"Connection: Content-Length"]),
    Case("content length", "benign", post(b"Content-Length: 5", body=b"hello"), PASSES),
    Case("content length", "a request as the body", post(
        b"Content-Length: " + SIZE, body=SMUGGLED), PASSES),
    Case("content length", "GET with a body", head(b"Content-Length: 5") + b"hello", PASSES),
]


def chunks(name, body, **options):
    options.setdefault("outcomes", CUT)
    return Case("chunks", name, post(CHUNKED, body=body + SMUGGLED), unfinished=True, **options)


CHUNKS = [
    chunks("size of letters", b"xyz\r\nabc\r\n0\r\n\r\n"), chunks("minus", b"-1\r\na\r\n0\r\n\r\n"),
    chunks("plus", b"+1\r\na\r\n0\r\n\r\n"), chunks("0x", b"0x1\r\na\r\n0\r\n\r\n"),
    chunks("blank before", b" 1\r\na\r\n0\r\n\r\n"), chunks("tab before", b"\t1\r\na\r\n0\r\n\r\n"),
    chunks("blank before CR", b"1 \r\na\r\n0\r\n\r\n", outcomes=CUT),
    chunks("underscore", b"1_0\r\naaaaaaaaaaaaaaaa\r\n0\r\n\r\n"),
    chunks("empty", b"\r\na\r\n0\r\n\r\n"),
    chunks("2^64 + 1", b"10000000000000001\r\na\r\n0\r\n\r\n"),
    chunks("2^64 - 1", b"ffffffffffffffff\r\na\r\n0\r\n\r\n"),
    chunks("2^63", b"8000000000000000\r\na\r\n0\r\n\r\n"),
    chunks("30 digits", b"0" * 29 + b"1\r\na\r\n0\r\n\r\n", outcomes=CUT + PASSES),
    chunks("bare LF everywhere", b"1\na\n0\n\n"),
    chunks("bare LF after the size", b"1\na\r\n0\r\n\r\n"),
    chunks("bare CR after the size", b"1\ra\r\n0\r\n\r\n"),
    chunks("CR CR LF", b"1\r\r\na\r\n0\r\n\r\n"),
    chunks("bare LF after the data", b"1\r\na\n0\r\n\r\n"),
    chunks("no end of data", b"1\r\na0\r\n\r\n"),
    chunks("too much data", b"1\r\nab\r\n0\r\n\r\n"),
    chunks("too little data", b"3\r\na\r\n0\r\n\r\n"),
    chunks("LF in an extension", b"1;a\nb\r\na\r\n0\r\n\r\n"),
    chunks("CR in an extension", b"1;a\rb\r\na\r\n0\r\n\r\n"),
    chunks("NUL in an extension", b"1;\0\r\na\r\n0\r\n\r\n"),
    chunks("extension of 8 KiB", b"1;" + b"a" * 8192 + b"\r\na\r\n0\r\n\r\n"),
    chunks("extension with a request", b"1;\r\nGET /smuggled HTTP/1.1\r\n\r\n0\r\n\r\n"),
    chunks("end without CRLF", b"1\r\na\r\n0\r\nGET"),
    chunks("end with bare LF", b"1\r\na\r\n0\n\n"),
    chunks("end with LF LF", b"1\r\na\r\n0\r\n\n"), chunks("NUL as size", b"\0\r\n\r\n"),
    chunks("trailer without colon", b"1\r\na\r\n0\r\nnonsense\r\n\r\n"),
    chunks("trailer that is folded", b"1\r\na\r\n0\r\nA: b\r\n c\r\n\r\n"),
    chunks("trailer with bare LF", b"1\r\na\r\n0\r\nA: b\nC: d\r\n\r\n"),
    chunks("trailer with NUL", b"1\r\na\r\n0\r\nA: \0\r\n\r\n"),
    chunks("trailer with a blank before its colon", b"1\r\na\r\n0\r\nA : b\r\n\r\n"),
    Case("chunks", "trailer that frames", post(
        CHUNKED, body=b"1\r\na\r\n0\r\nContent-Length: 99\r\n\r\n"), CUT + PASSES, unfinished=True),
    Case("chunks", "trailer with a host", post(
        CHUNKED, body=b"1\r\na\r\n0\r\nHost: evil\r\n\r\n"), CUT + PASSES, unfinished=True),
    Case("chunks", "benign", post(CHUNKED, body=b"3;x=1\r\nabc\r\n0\r\nT: 1\r\n\r\n"), PASSES),
]

CASES = LENGTH_AND_ENCODING + ENCODING + LENGTH + CHUNKS
