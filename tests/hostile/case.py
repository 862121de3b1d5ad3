"""Case: one row of the table of hostile requests, and the words in which rows are written."""

from dataclasses import dataclass

# Stand-ins for addresses that are known only when the test runs.
GOOD = b"@GOOD@"  # host:port of the plain HTTP origin that the agent may reach
EVIL = b"@EVIL@"  # host:port of the one that it may not
TUNNEL = b"@TUNNEL@"  # host:port that a tunnel may go to

SMUGGLED = b"GET http://" + GOOD + b"/smuggled HTTP/1.1\r\nHost: " + GOOD + b"\r\n\r\n"
TO_EVIL = b"GET http://" + EVIL + b"/evil HTTP/1.1\r\nHost: " + EVIL + b"\r\n\r\n"

# Outcomes: the sequences of answers that are right. "ok" is a 200 of the good origin.
REFUSED = (("bad-request",),)
PASSES = (("ok",),)
EITHER = REFUSED + PASSES  # valid by the letter, but nobody would miss it
CUT = (("bad-request",), ())  # within a body: refused or just ended


@dataclass(frozen=True)
class Case:
    group: str
    name: str
    raw: bytes
    outcomes: tuple = REFUSED
    paths: tuple = ("/",)  # what the good origin may see if an outcome says "ok"
    unfinished: bool = False  # the good origin may see a request that it cannot take for whole
    reason: str = None  # another single refusal

    @property
    def accepted(self):
        return ((self.reason,),) if self.reason else self.outcomes


def head(*lines, target=b"http://" + GOOD + b"/", method=b"GET", version=b"HTTP/1.1", host=True):
    """A request head for the good origin with these header lines."""
    out = method + b" " + target + b" " + version + b"\r\n"
    if host:
        out += b"Host: " + GOOD + b"\r\n"
    return out + b"".join(line + b"\r\n" for line in lines) + b"\r\n"


def post(*lines, body=b"", **options):
    return head(*lines, method=b"POST", **options) + body


def connect(target=TUNNEL, *lines, version=b"HTTP/1.1"):
    return b"CONNECT " + target + b" " + version + b"\r\n" + b"".join(
        line + b"\r\n" for line in lines) + b"\r\n"
