"""Budgets of requests and tokens on opened hosts, against an agent that tries to get more."""

import gzip
import json
import random
import threading

import pytest
from harness.checks import assert_refusal
from harness.cli import Operator
from harness.http_origin import response
from harness.inside import Inside
from harness.wait import until

JSON = ["Content-Type: application/json"]
UPGRADE = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: x",
           "Sec-WebSocket-Version: 13"]


def message(tokens):
    return json.dumps({"content": [{"type": "tool_use", "input": {"usage": {"input_tokens": 0}}}],
                       "usage": {"input_tokens": tokens - 1, "output_tokens": 1}}).encode()


def events(*documents):
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in documents)


def limited(world, **limits):
    world.origin = world.tls_origin("a.test")
    world.plain = world.http_origin("p.test")
    world.agent("alpha", allow=[f"http://p.test:{world.http_port}"], budget=[{"host": "a.test", **limits}],
                request=[{"host": "a.test", "methods": ["*"], "websocket": True}])
    return world.start(server={"workers": 2})


def budget(proxy):
    with proxy.control() as control:
        return control.do("agent", agent="alpha")["agent"]["host_budgets"][0]


def left(proxy, name):
    return budget(proxy)[name]["left"]


def test_requests_are_counted_and_then_refused_inside(world):
    proxy = limited(world, max_requests=3)
    inside = Inside(world, proxy)
    for _ in range(3):
        assert inside.get("/").status == 200
    for _ in range(2):
        body = assert_refusal(inside.get("/"), "budget-exhausted")
        assert "its requests to this host are used up" in body["message"]
    assert len(world.origin.requests) == 3
    line = proxy.audit.wait_one(event="deny", reason="budget-exhausted", scheme="https")
    assert line["detail"] == "its requests to this host are used up"
    assert budget(proxy) == {"host": "a.test", "max_requests": {"total": 3, "used": 3, "left": 0}}
    assert proxy.metrics().total("stile_budget_remaining_requests", agent="alpha") == 0
    operator = Operator(proxy)
    assert "a.test: 0 of 3 requests" in operator.does("agents", "alpha")
    assert "a.test: 0 of 3 requests" in operator.does("agents")
    explained = operator("explain", "alpha", f"https://a.test:{world.port}/")
    assert explained.code == 1 and "used up" in explained.out
    operator.does("budget", "reset", "alpha")
    assert inside.get("/").status == 200


def test_refused_and_failed_requests_do_not_count(world):
    world.origin = world.tls_origin("a.test")
    world.agent("alpha", request=[{"host": "a.test", "paths": ["/ok"]}],
                budget=[{"host": "a.test", "max_requests": 1, "requests_per_minute": 1, "tokens": 100}])
    proxy = world.start()
    inside = Inside(world, proxy)
    for _ in range(3):
        assert_refusal(inside.get("/no"), "path-not-allowed")
    world.origin.close()
    assert_refusal(inside.get("/ok"), "origin-unreachable")
    now = budget(proxy)
    assert [now[key]["left"] for key in ("max_requests", "requests_per_minute", "tokens")] == [1, 1, 100]


def test_a_minute_has_its_limit_and_says_when_it_ends(world):
    proxy = limited(world, requests_per_minute=2)
    inside = Inside(world, proxy)
    assert [inside.get("/").status for _ in range(3)] == [200, 200, 429]
    refused = inside.get("/")
    assert 1 <= int(refused.value("retry-after")) <= 65
    assert left(proxy, "requests_per_minute") == 0
    Operator(proxy).does("budget", "reset", "alpha")
    assert left(proxy, "requests_per_minute") == 2
    assert [inside.get("/").status for _ in range(3)] == [200, 200, 429]


@pytest.mark.hostile_bytes
def test_parallel_and_pipelined_requests_do_not_pass_the_limit(world):
    proxy = limited(world, max_requests=20)
    results = []

    def run():
        client = Inside(world, proxy)
        request = f"GET / HTTP/1.1\r\nHost: a.test:{world.port}\r\n\r\n".encode()
        client.client.send(request * 10)
        for _ in range(10):
            answer = client.client.read_response()
            results.append(answer.status if answer else None)
    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results.count(200) == 20 and results.count(429) == 40
    assert len(world.origin.requests) == 20


@pytest.mark.hostile_bytes
def test_head_expect_websocket_and_aborted_requests_count(world):
    proxy = limited(world, max_requests=4)
    assert Inside(world, proxy).ask("HEAD", "/").status == 200
    waiting = Inside(world, proxy)
    waiting.send("POST", "/", ["Expect: 100-continue", "Content-Length: 5"])
    until(lambda: len(world.origin.requests) == 2, 15, "the head of the second request")
    waiting.client.reset()  # its body never comes
    socket = Inside(world, proxy)
    world.origin.on("/ws", b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
                           b"Upgrade: websocket\r\n\r\n")
    socket.send("GET", "/ws", UPGRADE)
    assert socket.client.read_head()[0] == 101
    gone = Inside(world, proxy)
    gone.send("GET", "/gone")
    until(lambda: len(world.origin.requests) == 4, 15, "the last request")
    gone.client.reset()
    assert_refusal(Inside(world, proxy).get("/"), "budget-exhausted")
    assert len(world.origin.requests) == 4


def test_what_was_used_is_kept_over_reloads_restarts_and_crashes(world):
    proxy = limited(world, max_requests=10, tokens=100000)
    world.origin.on("/m", response(message(40), headers=JSON))
    assert Inside(world, proxy).ask("POST", "/m", body=b"{}").status == 200
    until(lambda: left(proxy, "tokens") == 99960, 15, "the tokens of the answer")
    proxy.settings["agent"][0]["budget"][0]["max_requests"] = 5
    proxy.reload()
    until(lambda: left(proxy, "max_requests") == 4, 15, "the reload")
    assert left(proxy, "tokens") == 99960
    proxy.stop()
    proxy.start()
    assert (left(proxy, "max_requests"), left(proxy, "tokens")) == (4, 99960)
    inside = Inside(world, proxy)
    assert inside.get("/").status == 200
    proxy.kill()
    proxy.start()
    assert left(proxy, "max_requests") <= 3


@pytest.mark.parametrize("name, method, headers, body, tokens", [
    ("json", "POST", JSON, message(700), 700),
    ("gzip", "POST", JSON + ["Content-Encoding: gzip"], gzip.compress(message(700)), 700),
    ("events", "POST", ["Content-Type: text/event-stream; charset=utf-8"], events(
        {"type": "message_start", "message": {"usage": {"input_tokens": 300, "output_tokens": 1}}},
        {"type": "content_block_delta", "delta": {"text": '"usage":{"output_tokens":9}'}},
        {"type": "message_delta", "usage": {"output_tokens": 400}}), 700),
    ("responses", "POST", ["Content-Type: text/event-stream"], events(
        {"type": "response.created", "response": {"usage": None}},
        {"type": "response.completed", "response": {"usage": {"input_tokens": 300, "output_tokens": 400,
                                                              "total_tokens": 700}}}), 700),
    ("gemini", "POST", JSON, b'[{"usageMetadata":{"totalTokenCount":5}},{"usageMetadata":{"totalTokenCount":700}}]', 700),
    ("a list of models", "GET", JSON, b'{"data":[]}', 0),
    ("a count", "POST", JSON, b'{"input_tokens":2095}', 0),
])
def test_tokens_are_charged_as_the_answer_reports_them(world, name, method, headers, body, tokens):
    proxy = limited(world, tokens=100000)
    world.origin.on("/m", response(body, headers=headers))
    answer = Inside(world, proxy).ask(method, "/m", ["Accept-Encoding: gzip, br"],
                                      b"{}" if method == "POST" else b"")
    assert (answer.status, answer.body) == (200, body)
    assert world.origin.requests[0].value("accept-encoding") == "identity"
    until(lambda: left(proxy, "tokens") == 100000 - tokens, 15, f"{tokens} tokens for {name}")
    assert proxy.metrics().total("stile_budget_remaining_tokens", agent="alpha") == 100000 - tokens


@pytest.mark.parametrize("headers, body, bytes_per_token", [
    (["Content-Type: text/event-stream"], events(*[{"delta": "x" * 100}] * 400), 4),
    (["Content-Type: application/octet-stream"], b"x" * 50000, 2),
    (JSON + ["Content-Encoding: br"], b"x" * 50000, 2),
    (JSON, b'{"usage":null,"text":"' + b"x" * 50000 + b'"}', 2),
    (JSON, b'{"id":"file_1","text":"' + b"x" * 50000 + b'"}', 2),
    (JSON + ["Content-Encoding: gzip"], gzip.compress(b'{"text":"' + b"x" * 50000 + b'"}'), 2),
])
def test_an_answer_that_does_not_say_is_charged_by_its_size(world, headers, body, bytes_per_token):
    proxy = limited(world, tokens=100000)
    world.origin.on("/m", response(body, headers=headers))
    assert Inside(world, proxy).ask("POST", "/m", body=b"y" * 4000).status == 200
    decoded = gzip.decompress(body) if "Content-Encoding: gzip" in headers else body
    size = 4000 // 2 + len(decoded) // bytes_per_token
    until(lambda: left(proxy, "tokens") <= 100000 - size, 15, "tokens by size")
    assert left(proxy, "tokens") >= 100000 - size - 1500


def test_an_answer_that_is_mostly_blanks_is_not_decompressed_for_its_report(world):
    """A single read of 64 KiB could become 64 MiB."""
    proxy = limited(world, tokens=10_000_000)
    noise = random.Random(1).randbytes(1 << 20).hex().encode()
    body = gzip.compress(b'{"text":"' + noise + b'",' + b" " * (40 << 20) + b'"usage":{"input_tokens":1}}', 6)
    world.origin.on("/m", response(body, headers=JSON + ["Content-Encoding: gzip"]))
    answer = Inside(world, proxy).ask("POST", "/m", body=b"{}")
    assert (answer.status, answer.body) == (200, body)
    until(lambda: left(proxy, "tokens") < 10_000_000 - len(noise) // 2, 15, "tokens by size")


def test_work_that_goes_on_after_the_answer_costs_at_least_the_reserve(world):
    """A batch at a path that Stile does not know, or a file that is worked through later."""
    proxy = limited(world, tokens=160000)
    world.origin.on("/later", response(b'{"id":"batch_1","status":"in_progress"}', headers=JSON))
    inside = Inside(world, proxy)
    assert inside.ask("POST", "/later", body=b"{}").status == 200
    until(lambda: left(proxy, "tokens") == 150000, 15, "a 16th of the budget")
    for _ in range(15):
        assert inside.ask("POST", "/later", body=b"{}").status == 200
    assert_refusal(inside.ask("POST", "/later", body=b"{}"), "budget-exhausted")
    assert len(world.origin.requests) == 16


@pytest.mark.parametrize("path", ["/v1/messages/batches", "/v1/batches/", "/v1beta/models/g:batchGenerateContent"])
def test_a_batch_is_refused_where_tokens_count(world, path):
    proxy = limited(world, tokens=1000)
    inside = Inside(world, proxy)
    body = assert_refusal(inside.ask("POST", path), "path-not-allowed")
    assert "the tokens of a batch cannot be counted" in body["message"]
    line = proxy.audit.wait_one(event="deny", reason="path-not-allowed")
    assert line["detail"].startswith("the tokens of a batch")
    assert "add the path" not in body["message"] and body["message"].endswith("send its requests one by one")
    assert inside.get(path).status == 200, "a list of batches"
    assert_refusal(inside.ask("GET", path, ["X-HTTP-Method-Override: POST"]), "path-not-allowed")
    assert len(world.origin.requests) == 1


def test_a_stream_that_is_cut_before_its_count_is_charged(world):
    proxy = limited(world, tokens=100000)
    held = threading.Event()

    def responder(exchange):
        exchange.read_body()
        start = events({"message": {"usage": {"input_tokens": 30000, "output_tokens": 1}}},
                       *[{"delta": "x" * 90}] * 100)
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99999\r\n\r\n",
                      start)
        held.wait(15)
        return False
    world.origin.on("/m", responder)
    inside = Inside(world, proxy)
    inside.send("POST", "/m", body=b"{}")
    got = b""
    while got.count(b"delta") < 100:
        got += inside.client.recv()
    inside.client.reset()
    until(lambda: left(proxy, "tokens") <= 100000 - 30000 - 10000 // 4, 15, "input and what was sent")
    held.set()


def test_requests_are_refused_when_the_tokens_are_used_up(world):
    proxy = limited(world, tokens=1000)
    world.origin.on("/m", response(message(5000), headers=JSON))
    inside = Inside(world, proxy)
    assert inside.ask("POST", "/m", body=b"{}").status == 200
    until(lambda: left(proxy, "tokens") == 0, 15, "the tokens of the answer")
    body = assert_refusal(inside.ask("POST", "/m", body=b"{}"), "budget-exhausted")
    assert "its tokens on this host are used up" in body["message"]
    assert_refusal(Inside(world, proxy).ask("GET", "/ws", UPGRADE), "budget-exhausted")
    assert len(world.origin.requests) == 1


def test_only_as_many_requests_run_at_once_as_their_reserves_allow(world):
    proxy = limited(world, tokens=160)
    go_on = threading.Event()

    def responder(exchange):
        exchange.read_body()
        go_on.wait(15)
        exchange.send(response(message(10), headers=JSON))
    world.origin.on("/m", responder)
    running = [Inside(world, proxy) for _ in range(17)]
    for inside in running[:16]:
        inside.send("POST", "/m", body=b"{}")
    until(lambda: len(world.origin.requests) == 16, 15, "the requests at the origin")
    assert_refusal(running[16].ask("POST", "/m", body=b"{}"), "budget-exhausted")
    go_on.set()
    assert [inside.client.read_response("POST").status for inside in running[:16]] == [200] * 16
    until(lambda: left(proxy, "tokens") == 0, 15, "all is used")


def test_a_websocket_is_refused_where_tokens_count(world):
    proxy = limited(world, tokens=1000)
    body = assert_refusal(Inside(world, proxy).ask("GET", "/ws", UPGRADE), "upgrade-not-allowed")
    assert "cannot be counted" in body["message"] and "set websocket" not in body["message"]
    assert "cannot be counted" in proxy.audit.wait_one(event="deny", reason="upgrade-not-allowed")["detail"]


def test_plain_http_to_the_host_counts_too(world):
    origin = world.http_origin("a.test")
    world.agent("alpha", allow=[f"http://a.test:{world.http_port}"], request=[{"host": "a.test"}],
                budget=[{"host": "a.test", "max_requests": 2}])
    proxy = world.start()
    url = f"http://a.test:{world.http_port}/"
    assert [proxy.get(url).status for _ in range(3)] == [200, 200, 429]
    assert len(origin.requests) == 2
