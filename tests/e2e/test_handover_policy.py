"""Handover: budgets of hosts go on, and the new config also binds what stays in the old process."""

import json
import threading

import pytest
from harness.checks import assert_refusal
from harness.http_origin import response
from harness.inside import Inside
from harness.wait import until

JSON = ["Content-Type: application/json"]
TOKENS = 100000  # 6,250 are reserved for a request, 25,000 are on record at a time


class Held:
    """A request whose answer waits at its origin, and stays in the process that it came to."""

    def __init__(self, world, proxy, tokens=0):
        self.body = json.dumps({"usage": {"input_tokens": tokens, "output_tokens": 0}}).encode()
        self.go_on, self.origin = threading.Event(), world.origin
        world.origin.on("/held", self._answer)
        before = len(world.origin.requests)
        self.inside = Inside(world, proxy)
        self.inside.send("POST", "/held", body=b"{}")
        until(lambda: len(world.origin.requests) > before, 15, "the request at its origin")

    def _answer(self, exchange):
        exchange.read_body()
        self.go_on.wait(15)
        exchange.send(response(self.body, headers=JSON))

    def finish(self):
        self.go_on.set()
        answer = self.inside.client.read_response("POST")
        assert answer.status == 200 and answer.body == self.body
        self.inside.client.close()

    def assert_cut(self, proxy):
        assert_refusal(self.inside.client.read_response("POST"), "revoked")
        self.go_on.set()
        assert proxy.audit.wait_one(event="close")["reason"] == "revoked"


@pytest.fixture
def limited(world):
    def start(**limits):
        world.origin = world.tls_origin("a.test")
        more = {"budget": [{"host": "a.test", **limits}]} if limits else {}
        world.agent("alpha", request=[{"host": "a.test", "methods": ["*"]}], **more)
        return world.start(server={"workers": 2}, limits={"drain_timeout_ms": 20000})
    return start


def left(proxy, name):
    with proxy.control() as control:
        return control.do("agent", agent="alpha")["agent"]["host_budgets"][0][name]["left"]


def test_requests_of_a_host_are_neither_more_nor_fewer(world, limited):
    proxy = limited(max_requests=4)
    held = Held(world, proxy)
    assert Inside(world, proxy).get("/").status == 200
    proxy.take_over()
    held.finish()
    inside = Inside(world, proxy)
    assert [inside.get("/").status for _ in range(2)] == [200, 200]
    assert_refusal(inside.get("/"), "budget-exhausted")


def test_a_request_is_served_to_its_end_while_two_more_processes_follow(world, limited):
    proxy = limited(tokens=TOKENS)
    held = Held(world, proxy, tokens=60000)
    first, second = proxy.take_over(), proxy.take_over()
    held.finish()
    assert first.wait(10) == 0 and second.wait(10) == 0
    until(lambda: left(proxy, "tokens") == TOKENS - 60000, 15, "the tokens of the answer")
    assert {"reason"}.isdisjoint(proxy.audit.wait_one(event="close", path="/held"))
    proxy.audit.verify()


def test_what_the_newest_process_is_told_cuts_in_the_oldest(world, limited):
    proxy = limited()
    held = Held(world, proxy)
    proxy.take_over()
    proxy.take_over()
    with proxy.control() as control:
        control.do("revoke", agent="alpha", hosts=["a.test"])
    held.assert_cut(proxy)


def test_a_minute_goes_on(world, limited):
    proxy = limited(requests_per_minute=3)
    assert Inside(world, proxy).get("/").status == 200
    assert Inside(world, proxy).get("/").status == 200
    proxy.take_over()
    inside = Inside(world, proxy)
    assert [inside.get("/").status for _ in range(2)] == [200, 429]


def test_tokens_that_an_answer_reports_later_are_paid(world, limited):
    proxy = limited(tokens=TOKENS)
    held = Held(world, proxy, tokens=60000)
    old = proxy.take_over()
    held.finish()
    until(lambda: left(proxy, "tokens") == TOKENS - 60000, 15, "the tokens of the answer")
    assert old.wait(10) == 0
    assert left(proxy, "tokens") == TOKENS - 60000


def test_tokens_that_were_owed_before_are_paid_once(world, limited):
    proxy = limited(tokens=TOKENS)
    Held(world, proxy, tokens=40000).finish()
    until(lambda: left(proxy, "tokens") == TOKENS - 40000, 15, "the tokens of the answer")
    for _ in range(2):
        assert proxy.take_over().wait(10) == 0
    assert left(proxy, "tokens") == TOKENS - 40000


def test_what_is_owed_beyond_the_whole_budget_is_counted_once(world, limited):
    proxy = limited(tokens=TOKENS)
    Held(world, proxy, tokens=TOKENS + 30000).finish()
    until(lambda: left(proxy, "tokens") == 0, 15, "the tokens of the answer")
    for _ in range(2):
        assert proxy.take_over().wait(10) == 0
    proxy.settings["agent"][0]["budget"][0]["tokens"] = 2 * TOKENS
    assert proxy.take_over().wait(10) == 0
    assert left(proxy, "tokens") == TOKENS - 30000


def test_a_reserve_that_was_not_used_comes_back(world, limited):
    proxy = limited(tokens=TOKENS)
    held = Held(world, proxy, tokens=10)
    old = proxy.take_over()
    held.finish()
    assert old.wait(10) == 0
    until(lambda: left(proxy, "tokens") == TOKENS - 10, 15, "what was reserved")


def test_a_narrower_config_cuts_what_stays_in_the_old_process(world, limited):
    proxy = limited()
    held = Held(world, proxy)
    proxy.settings["agent"][0]["request"][0]["methods"] = ["GET"]
    old = proxy.take_over()
    held.assert_cut(proxy)
    assert old.wait(10) == 0


def test_a_config_that_still_allows_it_does_not_cut_it(world, limited):
    proxy = limited()
    held = Held(world, proxy)
    world.agent("beta", allow=["other.test"])
    proxy.settings["agent"] = world.agents
    old = proxy.take_over()
    until(lambda: Inside(world, proxy).get("/").status == 200, 15, "the new process")
    held.finish()
    assert old.wait(10) == 0


def test_another_config_file_cuts_what_stays_in_the_old_process(world, limited):
    """The old process reads its own file, which is not the one that is in force now."""
    proxy = limited()
    held = Held(world, proxy)
    proxy.config = proxy.folder / "other.toml"
    proxy.take_over()
    held.assert_cut(proxy)
    assert "is not the one of the new process" in proxy.log_text()
