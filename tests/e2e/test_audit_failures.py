"""The audit log when things go wrong: a full disk, kill -9, and the requests in between."""

import json
import os
import random
import signal
import subprocess
import threading

import pytest
from harness.audit import verify_lines
from harness.checks import assert_refusal
from harness.cli import Operator
from harness.origin import echo
from harness.wait import until

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")


@pytest.fixture
def small_disk(world):
    """A file system of 128 KiB for the log; `fill()` leaves no byte, `free()` gives it back."""
    place = world.folder / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "none", str(place)], check=True)
    yield Disk(place)
    for proxy in world.proxies:
        proxy.stop()
    data = (place / "audit.jsonl").read_bytes()
    subprocess.run(["umount", str(place)], check=True)
    (place / "audit.jsonl").write_bytes(data)  # for the check that every test ends with


class Disk:
    def __init__(self, place):
        self.place, self.filler = place, place / "filler"

    def start(self, world, **audit):
        proxy = world.proxy(audit={"path": str(self.place / "audit.jsonl"), **audit})
        proxy.audit.path = self.place / "audit.jsonl"
        return proxy.start()

    def fill(self):
        with open(self.filler, "ab", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

    def free(self):
        self.filler.unlink()


def exhaust(proxy, world):
    """The log's last page may have room for some lines more."""
    until(lambda: proxy.connect("x.test", world.port).reason == "audit-unavailable")


@needs_root
def test_full_disk_means_no_egress(world, small_disk):
    origin, plain = world.tcp_origin("o.test", handler=echo), world.http_origin("h.test")
    world.agent("alpha", allow=["o.test", "h.test"])
    proxy = small_disk.start(world)
    client = proxy.open_tunnel("o.test", world.port)
    client.recv_exactly(len(client.hello))
    small_disk.fill()
    exhaust(proxy, world)
    looked_up = len(world.dns.names_asked())
    for _ in range(5):  # it is known that the log fails: no 200, and nobody is asked or dialled
        assert_refusal(proxy.connect("o.test", world.port), "audit-unavailable")
    assert len(origin.connections) == 1 and len(world.dns.names_asked()) == looked_up
    assert_refusal(proxy.get(f"http://h.test:{world.http_port}/"), "audit-unavailable")
    assert plain.requests == []
    assert [bytes(conn.received) for conn in origin.connections if conn.received] == [client.hello]
    # What is open goes on.
    client.send(b"still here")
    assert client.recv_exactly(10) == b"still here"
    client.close()
    small_disk.free()
    until(lambda: proxy.get(f"http://h.test:{world.http_port}/back").status == 200)
    # The close that happened meanwhile was kept.
    assert proxy.audit.wait_one(event="close", host="o.test")["bytes_up"] == len(client.hello) + 10
    proxy.audit.verify()
    assert plain.paths() == ["/back"]


@needs_root
def test_advice_after_a_full_disk_leads_to_its_cause(world, small_disk):
    world.tcp_origin("o.test", handler=echo)
    world.agent("alpha", allow=["o.test"])
    proxy = small_disk.start(world)
    stile = Operator(proxy)
    small_disk.fill()
    exhaust(proxy, world)
    explained = stile("explain", "alpha", f"o.test:{world.port}")
    assert explained.code == 1 and "next: stile doctor" in explained.out
    found = stile("doctor", "--config", proxy.config)
    assert found.code == 1 and "No space left on device" in found.out, found
    small_disk.free()
    until(lambda: proxy.connect("o.test", world.port).status == 200)


@needs_root
def test_full_disk_is_said_wherever_an_operator_looks_and_again_when_it_is_over(world, small_disk):
    world.http_origin("h.test")
    world.agent("alpha", allow=["h.test", "o.test"])
    proxy = small_disk.start(world)
    early, control = proxy.control(), proxy.control()
    early.do("tail", agent="alpha", verdict="deny")
    assert proxy.metrics().total("stile_audit_healthy") == 1
    small_disk.fill()
    exhaust(proxy, world)
    problem = f"cannot write to {proxy.audit.path}: No space left on device; requests are refused"
    until(lambda: problem in proxy.log_text())
    assert problem in control.do("status")["audit_problem"]
    explained = control.do("explain", agent="alpha", host="o.test", port=str(world.port), resolve=True)
    assert (explained["verdict"], explained["reason"]) == ("deny", "audit-unavailable")
    assert any(problem in step["detail"] for step in explained["steps"])
    assert proxy.metrics().total("stile_audit_healthy") == 0

    def next_event(tail):
        while (line := json.loads(tail.read_line()))["event"] in ("deny", "missed", "audit-gap"):
            pass
        return line
    late = proxy.control()
    late.do("tail")
    for tail in (early, late):
        event = next_event(tail)
        assert event["event"] == "audit-failing" and problem in event["detail"]
    small_disk.free()
    until(lambda: "audit: the log is written again" in proxy.log_text())
    assert proxy.log_text().count("cannot write to") == 1, "said more than once"
    for tail in (early, late):
        event = next_event(tail)
        assert event["event"] == "audit-restored" and event["count"] > 0
    assert "audit_problem" not in control.do("status")
    assert control.do("explain", agent="alpha", host="o.test", port=str(world.port))["verdict"] == "allow"
    assert proxy.metrics().total("stile_audit_healthy") == 1
    assert proxy.get(f"http://h.test:{world.http_port}/").status == 200


@needs_root
def test_full_disk_refuses_in_squids_format_too_and_recovers(world, small_disk):
    world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = small_disk.start(world, format="squid")
    url = f"http://h.test:{world.http_port}/"
    assert proxy.get(url).status == 200
    small_disk.fill()
    exhaust(proxy, world)
    until(lambda: "requests are refused" in proxy.log_text())
    for _ in range(5):
        assert_refusal(proxy.get(url), "audit-unavailable")
    small_disk.free()
    until(lambda: proxy.get(url).status == 200)
    until(lambda: "audit: the log is written again" in proxy.log_text())
    assert proxy.log_text().count("cannot write to") == 1


@needs_root
def test_full_disk_with_continue_is_counted_as_a_gap(world, small_disk):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = small_disk.start(world, on_failure="continue")
    url = f"http://h.test:{world.http_port}/"
    small_disk.fill()

    def lost():
        assert proxy.get(url).status == 200
        return proxy.metrics().total("stile_audit_gaps_total") >= 3
    until(lost)
    small_disk.free()

    def told():
        assert proxy.get(url).status == 200
        return proxy.audit.entries(event="audit-gap")
    gaps = until(told)
    assert sum(line.get("count", 0) for line in gaps) >= 3
    proxy.audit.verify()
    assert len(origin.requests) > 3


@needs_root
def test_disk_that_fills_up_under_load_tears_no_line(world, small_disk):
    """Up to the last byte: each request has its line or its refusal."""
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = small_disk.start(world)
    with proxy.client() as client:
        for number in range(2000):
            answer = client.get(f"http://h.test:{world.http_port}/{number}")
            if answer is None or answer.reason == "audit-unavailable":
                break
            assert answer.status == 200
        else:
            raise AssertionError("the disk did not fill up")
    logged = {line["path"] for line in proxy.audit.entries(event="open")}
    assert set(origin.paths()) <= logged


def test_log_that_cannot_be_opened_stops_the_start(world):
    proxy = world.proxy(audit={"path": "/nonexistent/audit.jsonl"})
    proxy.start(wait=False)
    assert proxy.wait_exit(10) == 1
    proxy.expected_exit = {1}
    assert "/nonexistent/audit.jsonl" in proxy.log_text()


class Traffic:
    """Requests with unique names from several threads until told to stop."""

    def __init__(self, proxy, world, run):
        self.proxy, self.world, self.run = proxy, world, run
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(n,), daemon=True)
                         for n in range(6)]
        for thread in self._threads:
            thread.start()

    def _work(self, thread):
        number = 0
        while not self._stop.is_set():
            number += 1
            name = f"r{self.run}-{thread}-{number}"
            try:
                if number % 2:
                    self.proxy.get(f"http://h.test:{self.world.http_port}/{name}")
                else:
                    self._tunnel(name + ".w.test")
            except (OSError, AssertionError, AttributeError):
                continue  # the daemon was killed under it

    def _tunnel(self, host):
        self.world.dns.host(host, self.world.tunnels.address)
        client = self.proxy.open_tunnel(host, self.world.port)
        client.recv_exactly(10)
        client.close()

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join(10)


def test_kill_at_random_moments_loses_no_open_line_and_breaks_no_chain(world):
    plain = world.http_origin("h.test")
    world.tunnels = world.tcp_origin(handler=echo)
    world.agent("alpha", allow=["h.test", ".w.test"])
    proxy = world.proxy(server={"workers": 2})
    chooser = random.Random(4)
    for run in range(20):
        proxy.start()
        traffic = Traffic(proxy, world, run)
        count = len(proxy.audit.raw_lines()) + chooser.randint(1, 120)
        until(lambda: len(proxy.audit.raw_lines()) >= count)
        proxy.kill()
        traffic.stop()
        for client in proxy.clients:
            client.close()
        proxy.clients.clear()
    proxy.start()
    verify_lines(proxy.audit.raw_lines())
    opened = set()
    for line in proxy.audit.raw_lines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # torn; verify_lines has checked that a gap names it
        if entry["event"] == "open":
            opened.add(entry.get("path") if entry["method"] == "GET" else entry["host"])
    arrived = set(plain.paths())
    for conn in world.tunnels.connections:
        if conn.received:
            text = bytes(conn.received).split(b".w.test")[0]
            arrived.add("r" + text.rsplit(b"r", 1)[1].decode() + ".w.test")
    assert len(arrived) > 100
    assert arrived <= opened, "egress without its line"
    # And it serves again.
    assert proxy.get(f"http://h.test:{world.http_port}/last").status == 200


def test_state_survives_a_kill_within_a_reload(world):
    world.agent("alpha", allow=["x.test"])
    proxy = world.proxy()
    for _ in range(5):
        proxy.start()
        for _ in range(3):
            proxy.signal(signal.SIGHUP)
        proxy.kill()
    proxy.start()
    assert_refusal(proxy.connect("y.test", world.port), "host-not-allowed")
