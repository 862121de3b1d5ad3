"""stile notify: posts asks to a webhook until they are taken; over verified TLS, through a proxy."""

import json
import subprocess

import pytest
from harness.asks import own_page
from harness.cli import Operator
from harness.http_origin import response
from harness.wait import until

LONG = {"limits": {"ask_hold_ms": 60000, "drain_timeout_ms": 500}}


@pytest.fixture
def start(world):
    """Starts a daemon whose agent asks; then (proxy, a function that starts `stile notify`)."""
    running = []

    def begin():
        world.agent("alpha", allow=[], unlisted="ask")
        proxy = world.start(**LONG)
        operator = Operator(proxy)

        def notify(*arguments, **variables):
            operator.env.update(variables)
            log = open(world.folder / "notify.log", "w+b")  # noqa: SIM115
            running.append((operator.start("notify", *arguments, stderr=log), log))
            return running[-1]
        return proxy, notify
    yield begin
    for process, log in running:
        process.terminate()
        try:
            assert process.wait(20) in (0, 2), "stile notify did not end well"
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        finally:
            log.close()


def bodies(hook):
    return [json.loads(request.body) for request in hook.requests if request.complete]


def test_an_ask_is_posted_without_the_agents_words(world, start):
    hook = world.http_origin()
    proxy, notify = start()
    notify("--webhook", f"http://{hook.address}:{world.http_port}/hook")
    _, ask = own_page(proxy, method="POST", body={"host": "b.test", "reason": "SECRET WORDS"})
    until(lambda: bodies(hook), 30, "a post")
    event = bodies(hook)[0]["events"][0]
    assert (event["id"], event["kind"], event["agent"]) == (f"ask-{ask['id']}", "ask", "alpha")
    assert event["detail"]["host"] == "b.test" and f"stile approve {ask['id']}" in event["text"]
    request = hook.requests[0]
    assert request.value("idempotency-key") == bodies(hook)[0]["id"]
    assert b"SECRET" not in request.body and request.target == "/hook"


def test_what_is_not_taken_is_sent_again_with_the_same_id(world, start):
    hook = world.http_origin()
    times = iter(range(100))

    def busy_at_first(exchange):
        exchange.read_body()
        exchange.send(response(b"", "503 Busy") if next(times) == 0 else response(b""))
    hook.on("/hook", busy_at_first)
    proxy, notify = start()
    notify("--webhook", f"http://{hook.address}:{world.http_port}/hook")
    own_page(proxy, method="POST", body={"host": "b.test"})
    until(lambda: len(bodies(hook)) == 2, 40, "the second attempt")
    first, second = bodies(hook)
    assert first == second


def test_what_is_there_already_is_told_and_bursts_are_one_message(world, start):
    hook = world.http_origin()
    proxy, notify = start()
    for number in range(10):
        own_page(proxy, method="POST", body={"host": f"h{number}.test"})
    notify("--webhook", f"http://{hook.address}:{world.http_port}/hook")
    until(lambda: bodies(hook), 30, "a post")
    assert len(bodies(hook)[0]["events"]) == 10


@pytest.mark.parametrize("form", ["slack", "ntfy"])
def test_formats(world, start, form):
    hook = world.http_origin()
    proxy, notify = start()
    notify("--webhook", f"http://{hook.address}:{world.http_port}/hook", "--format", form)
    own_page(proxy, method="POST", body={"host": "b.test"})
    request = until(lambda: [one for one in hook.requests if one.complete], 30, "a post")[0]
    if form == "slack":
        body = json.loads(request.body)
        assert "`alpha asks for b.test:443" in body["text"] and body["unfurl_links"] is False
    else:
        assert request.body.startswith(b"alpha asks for b.test:443")
        assert request.value("title") == "Stile: an agent asks"


def test_tls_is_verified_and_the_way_out_is_an_allowlist(world, start):
    hook = world.tls_origin("a.test")
    world.agent("webhook", source=["127.0.0.1"], allow=["a.test"])
    proxy, notify = start()
    way = {"HTTPS_PROXY": f"http://{proxy.listen}"}
    url = f"https://a.test:{world.port}/hook"
    _, log = notify("--webhook", url, **way)
    own_page(proxy, method="POST", body={"host": "b.test"})
    until(lambda: b"certificate" in (log.seek(0), log.read())[1], 30, "a refused certificate")
    assert hook.requests == []
    notify("--webhook", url, "--ca", world.certificates.ca_file, **way)
    until(lambda: bodies(hook), 30, "a post")
    assert proxy.audit.entries(event="open", agent="webhook", host="a.test")


def test_a_webhook_is_https(start):
    _, notify = start()
    for url in ("http://example.org/x", "ftp://example.org", "http://127.evil.test/", "https://u:p@h/"):
        process, _ = notify("--webhook", url)
        assert process.wait(20) == 2, url
