"""The table of hostile requests again, inside TLS that Stile opens and puts a credential into."""

from dataclasses import replace
from datetime import datetime, timezone

import connection_cases
import framing_cases
import head_cases
import pytest
from harness.tls_wire import open_wire
from judge import Stage, log_problems, problems, read_answers

pytestmark = pytest.mark.hostile_bytes

VALUE = "sk-real-value-0123456789"
URL = b"http://@GOOD@"
PADDING = b"x" * len("http://good.test:12345"[:-1])  # rows announce the length of what they hide


def inside(case):
    """The same row in origin-form; None if it is about the proxy's own targets."""
    if case.group in ("target", "host", "connect") or any(
            word in case.raw for word in (b"@EVIL@", b"@TUNNEL@", b"@PORT@", b"CONNECT ", b"127.0.0.1")):
        return None
    raw = case.raw.replace(URL + b"/smuggled", b"/smuggled?" + PADDING).replace(URL + b"/", b"/")
    return None if URL in raw or raw == case.raw else replace(case, raw=raw)


ROWS = [row for case in framing_cases.CASES + head_cases.CASES + connection_cases.CASES
        if (row := inside(case))]


def test_most_of_the_table_is_played():
    assert len(ROWS) >= 250


@pytest.fixture(scope="module")
def stage(shared_world):
    world = shared_world
    return Stage(world.tls_origin("good.test"), world.tcp_origin("evil.test"),
                 world.tcp_origin("tunnel.test"), world.dns)


@pytest.fixture(scope="module")
def proxy(shared_world, stage):
    assert stage
    shared_world.secret("api", VALUE, ["good.test"], header="X-Api-Key")
    shared_world.agent("alpha", secrets=["api"], request=[{"host": "good.test", "methods": ["*"]}])
    return shared_world.start(limits={"header_timeout_ms": 5000})


@pytest.mark.parametrize("case", ROWS, ids=[f"{case.group}: {case.name}" for case in ROWS])
def test_hostile_request_inside(stage, proxy, case):
    mark = stage.mark()
    since = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    raw = stage.fill_in(case.raw)
    with open_wire(proxy, "good.test", stage.good.port) as client:
        client.try_send(raw)
        try:
            client.half_close()
        except OSError:
            pass
        answers = read_answers(client, raw.startswith(b"HEAD"))
    if b" HTTP/1.0\r\n" in raw:  # its scrubbed answer has no length: it ends with the connection
        answers = tuple("ok" if answer == "tunnel" else answer for answer in answers)
    found = problems(case, stage, mark, answers)
    for request in stage.good.requests[mark[0]:]:
        if request.values("x-api-key") != [VALUE]:
            found.append(f"keys {request.values('x-api-key')}")
        if VALUE.encode() in request.raw_body:
            found.append("the value is in a body")
    lines = [line for line in proxy.audit.entries(
        src=f"{proxy.addresses['alpha']}:{client.local_port}") if line["ts"] >= since]
    assert not found + log_problems(lines, answers), "\n".join(
        [*found, f"answers {answers}", *[str(line) for line in lines]])
