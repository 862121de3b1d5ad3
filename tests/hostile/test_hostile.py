"""The table of hostile requests against the real daemon, judged by what others received."""

from datetime import datetime, timezone
import socket
import threading

import connection_cases
import framing_cases
import head_cases
import pytest
from harness.client import Client
from judge import Stage, log_problems, problems, read_answers

pytestmark = pytest.mark.hostile_bytes

CASES = framing_cases.CASES + head_cases.CASES + connection_cases.CASES
IDS = [f"{case.group}: {case.name}" for case in CASES]


def test_table_is_large_and_names_are_unique():
    assert len(CASES) >= 300
    assert len(set(IDS)) == len(IDS)


def stage_of(world):
    good, evil = world.http_origin("good.test"), world.http_origin("evil.test")
    tunnel = world.tcp_origin("tunnel.test")
    return Stage(good, evil, tunnel, world.dns)


@pytest.fixture(scope="module")
def stage(shared_world):
    return stage_of(shared_world)


@pytest.fixture(scope="module")
def proxy(shared_world, stage):
    assert stage
    shared_world.agent("alpha", allow=["good.test", "tunnel.test"])
    return shared_world.start(limits={"header_timeout_ms": 5000, "header_bytes": 65536})


def play(case, stage, client, pieces):
    """Sends the row and the end of the stream; returns the answers."""
    raw = stage.fill_in(case.raw)
    step = len(raw) if pieces == "whole" else 1
    for at in range(0, len(raw), step):
        if not client.try_send(raw[at:at + step]):
            break
    try:
        client.half_close()
    except OSError:
        pass
    return read_answers(client, raw.startswith(b"HEAD"))


@pytest.mark.parametrize("pieces", ["whole", "bytes"])
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_hostile_request(stage, proxy, case, pieces):
    if pieces == "bytes" and len(case.raw) > 3000:
        pieces = "whole"
    mark = stage.mark()
    since = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    with proxy.client() as client:
        answers = play(case, stage, client, pieces)
    found = problems(case, stage, mark, answers)
    # A port may have been used by a row before.
    lines = [line for line in proxy.audit.entries(
        src=f"{proxy.addresses['alpha']}:{client.local_port}") if line["ts"] >= since]
    assert not found + log_problems(lines, answers), "\n".join(
        [*found, f"answers {answers}", *[str(line) for line in lines]])


class NaiveProxy:
    """Believes everything: relays whatever comes to the good origin. The judge has to object."""

    def __init__(self, address, stage):
        self._stage, self._listener = stage, socket.create_server((address, 0))
        self.address = self._listener.getsockname()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            origin = socket.create_connection((self._stage.good.address, self._stage.good.port))
            for a, b in ((client, origin), (origin, client)):
                threading.Thread(target=self._pump, args=(a, b), daemon=True).start()

    @staticmethod
    def _pump(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            source.close()

    def close(self):
        self._listener.close()


def test_no_row_passes_by_itself(world):
    """The control: against a proxy that checks nothing, the judge finds fault with every attack."""
    stage = stage_of(world)
    naive = NaiveProxy(world.site.address(1), stage)
    unnoticed = []
    for case in CASES:
        if any("ok" in outcome or "tunnel" in outcome for outcome in case.accepted):
            continue  # has a benign outcome: shown to go through by the row itself
        mark = stage.mark()
        with Client(naive.address) as client:
            answers = play(case, stage, client, "whole")
        # It has no log either, which is a fault where it just hangs up.
        if not problems(case, stage, mark, answers) + log_problems([], answers):
            unnoticed.append(case.name)
    naive.close()
    stage.good.failures.clear()  # its parser was fed garbage on purpose
    assert not unnoticed


def test_every_group_has_a_benign_twin_that_goes_through():
    passing = {case.group for case in CASES if len(case.accepted) == 1
               and set(case.accepted[0]) <= {"ok", "tunnel"}}
    assert passing == {case.group for case in CASES}
