"""A store that forges, swaps, cuts, replays, floods or says nothing: a host keeps what counts."""

import base64
import json
import os

import pytest
from harness.checks import measures_memory
from harness.cli import stile
from harness.etcd import StoreCertificates
from harness.fleet import Fleet
from harness.strange_store import StrangeStore, encoded, pair
from harness.wait import until

pytestmark = pytest.mark.hostile_bytes

AGENT = '[[agent]]\nid = "alpha"\nsource = ["127.0.0.11"]\nallow = ["{}"]\n'


class FalseCluster:
    def __init__(self, folder):
        self.certificates = StoreCertificates(folder / "certs")
        self.store = StrangeStore(self.certificates)
        self.endpoints = [self.store.url]


@pytest.fixture
def strange(short_folder):
    """A fleet whose store is the test's own."""
    cluster = FalseCluster(short_folder)
    fleet = Fleet(short_folder, cluster)
    fleet.store = cluster.store
    yield fleet
    cluster.store.close()
    fleet.close()


def test_objects_that_do_not_count(strange):
    store = strange.store
    good = strange.sign("base", AGENT.format("a.test"), 7)
    other = strange.folder / "other.key"
    assert stile("fleet", "keygen", other).code == 0
    policy = strange.policy(AGENT.format("evil.test"))
    foreign = stile("fleet", "sign", "foreign", policy, "--key", other, "--serial", 9)
    assert foreign.code == 0, foreign
    changed = json.loads(good)
    changed["body"]["agent"][0]["allow"] = ["evil.test"]
    early = json.loads(good)
    early["not_before"], early["not_after"] = "2090-01-01T00:00:00Z", "2091-01-01T00:00:00Z"
    store.objects = {
        "/stile/policy/base": good,
        "/stile/policy/swapped": good,  # signed for another name
        "/stile/policy/foreign": foreign.out,
        "/stile/policy/changed": json.dumps(changed, separators=(",", ":")),
        "/stile/policy/moved": json.dumps(early, separators=(",", ":")),
        "/stile/policy/cut": good[:-10],
        "/stile/policy/spaced": good + " ",
        "/stile/policy/bytes": b"\xff\x00\xfe",
        "/stile/policy/empty": "",
        "/stile/policy/deep": "[" * 10000,
        "/stile/policy/UPPER": good,
        "/stile/policy/a/b": good,
        "/stile/switch": good,
    }
    host = strange.host("one").start()
    host.has("policy/base", 7)
    assert host.verdict("alpha", "a.test") == "allow"
    assert host.verdict("alpha", "evil.test") == "host-not-allowed"
    assert host.fleet()["serials"] == {"policy/base": 7}
    refused = {one["name"] for one in host.fleet()["refused"]}
    assert refused == {"policy/" + name for name in
                       ("swapped", "foreign", "changed", "moved", "cut", "spaced", "bytes", "empty", "deep")
                       } | {"switch"}
    assert "offline" not in host.status()["mode"]


def test_a_replayed_switch_does_not_bring_a_host_back(strange):
    key = strange.key

    def switch(mode, serial):
        # The store of the test takes writes as etcd does: what was written is read from its log.
        written = []

        def keep(_path, body):
            operation = json.loads(body)["success"][0]["request_put"]
            written.append(base64.b64decode(operation["value"]).decode())
            return b'{"header":{"revision":"5"},"succeeded":true}'
        strange.store.answers["/kv/txn"] = keep
        done = stile("fleet", mode, "--key", key, "-c", strange.config, "--json")
        assert done.code == 0 and json.loads(done.out)["serial"] == serial, done
        strange.store.objects["/stile/switch"] = written[0]
        return written[0]
    online = switch("online", 1)
    switch("offline", 2)
    host = strange.host("one").start().has("switch", 2)
    assert host.status()["mode"] == "offline"
    host.leave()
    strange.store.objects["/stile/switch"] = online
    host.join().refuses("switch", "rolled back")
    assert host.status()["mode"] == "offline"
    host.leave()
    del strange.store.objects["/stile/switch"]
    host.join().is_connected()
    assert host.status()["mode"] == "offline"


BODIES = {
    "not JSON": b"<html>",
    "empty": b"",
    "a list": b"[]",
    "no header": b"{}",
    "another type": b'{"header":{"revision":{}}}',
    "revision too large": b'{"header":{"revision":"99999999999999999999999"}}',
    "a key that was not asked for": json.dumps(
        {"header": {"revision": "5"}, "kvs": [pair("/other/policy/base", "x")]}).encode(),
    "keys without an end": json.dumps(
        {"header": {"revision": "5"}, "kvs": [pair(f"/stile/policy/p{i}", "x") for i in range(8)],
         "more": True}).encode(),
    "empty pages without an end": b'{"header":{"revision":"5"},"kvs":[],"more":true}',
    "deep": b'{"header":' * 5000,
    "bytes": os.urandom(5000),
}


@pytest.mark.parametrize("what", BODIES)
def test_strange_answers_end_the_stay(strange, what):
    strange.store.answers["/kv/range"] = lambda _path, _body: BODIES[what]
    host = strange.host("one").start()
    until(lambda: strange.store.seen.count("/kv/range") >= 3 and "warning: fleet: " in host.log_text(), 30,
          "several tries")
    assert not host.fleet().get("connected") and not host.fleet().get("serials")
    strange.store.objects["/stile/policy/base"] = strange.sign("base", AGENT.format("a.test"), 1)
    del strange.store.answers["/kv/range"]
    host.has("policy/base", 1, 30)  # and it recovers


def resident_mib(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


@measures_memory
def test_a_hundred_megabytes_are_not_read(strange):
    def flood(_path, _body):
        return (b'"' * (1 << 20) for _ in range(100))
    strange.store.answers["/kv/range"] = flood
    host = strange.host("one").start()
    until(lambda: "body limit exceeded" in host.log_text(), 30, "the end of the flood")
    assert resident_mib(host.process) < (150 if "asan" in os.environ.get("STILE_BUILD", "") else 80)


@pytest.mark.long
@measures_memory
def test_what_nobody_signed_is_not_kept_however_much_it_is(strange):
    """As many objects as a host accepts, each as large as one may be, would be a gigabyte."""
    value = encoded(b"x" * 1_000_000)
    good = strange.sign("z", AGENT.format("a.test"), 1)

    def pages(_path, body):
        first = base64.b64decode(json.loads(body)["key"]).decode()
        if not first.startswith("/stile/policy/"):
            return strange.store.honest("/kv/range", body)
        start = 0 if first == "/stile/policy/" else int(first[len("/stile/policy/p"):][:3]) + 1
        if start >= 120:
            return json.dumps({"header": {"revision": "5"}, "kvs": [pair("/stile/policy/z", good)]}).encode()
        rows = ",".join(f'{{"key":"{encoded(f"/stile/policy/p{at:03}")}","value":"{value}","mod_revision":"5"}}'
                        for at in range(start, start + 8))
        return f'{{"header":{{"revision":"5"}},"kvs":[{rows}],"more":true}}'.encode()
    strange.store.answers["/kv/range"] = pages
    host = strange.host("one").start()
    host.has("policy/z", 1, 150).is_connected()
    assert host.verdict("alpha", "a.test") == "allow"
    assert {one["name"] for one in host.fleet()["refused"]} == {f"policy/p{at:03}" for at in range(120)}
    assert resident_mib(host.process) < (250 if "asan" in os.environ.get("STILE_BUILD", "") else 120)


def test_a_line_of_a_watch_is_bounded(strange):
    def flood(_path, _body):
        return (b"x" * (1 << 20) for _ in range(100))
    strange.store.answers["/watch"] = flood
    host = strange.host("one").start()
    until(lambda: "too large" in host.log_text(), 30, "the end of the flood")
    assert host.process.poll() is None


def test_a_watch_that_lies(strange):
    good = strange.sign("base", AGENT.format("a.test"), 1)
    forged = json.loads(good)
    forged["serial"] = 2
    lines = [
        {"result": {"header": {"revision": "6"}, "events": [{"kv": pair("/stile/policy/base", good)}]}},
        {"result": {"header": {"revision": "7"}, "events": [
            {"kv": pair("/stile/policy/base", json.dumps(forged, separators=(",", ":")))}]}},
        {"result": {"header": {"revision": "8"}, "events": [{"type": "DELETE", "kv": {
            "key": encoded("/stile/policy/base"), "mod_revision": "8"}}]}},
    ]
    strange.store.answers["/watch"] = lambda _path, _body: (
        json.dumps(line).encode() + b"\n" for line in lines)
    host = strange.host("one").start()
    host.has("policy/base", 1).refuses("policy/base", "the signature does not match")
    assert host.verdict("alpha", "a.test") == "allow"


@pytest.mark.long
def test_a_watch_that_brings_nothing_is_noticed(strange):
    host = strange.host("one").start().is_connected()
    until(lambda: "/watch" in strange.store.seen, 10, "the watch")
    strange.store.revision = 9
    strange.store.objects["/stile/policy/base"] = strange.sign("base", AGENT.format("a.test"), 1)
    host.has("policy/base", 1, 120)
    assert "the watch brings nothing any more" in host.log_text()


def test_a_store_that_says_nothing_is_left(strange):
    strange.store.answers["/kv/range"] = lambda _path, _body: None
    second = StrangeStore(strange.cluster.certificates)
    try:
        second.objects["/stile/policy/base"] = strange.sign("base", AGENT.format("a.test"), 1)
        host = strange.host("one", {"endpoints": [strange.store.url, second.url]}).start()
        host.has("policy/base", 1, 30)
    finally:
        second.close()
