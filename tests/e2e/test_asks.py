"""unlisted = "ask": a request is held, a person answers, and the answer is a grant with an end."""

import json
import signal
import threading

import pytest
from harness.asks import connect_head, find, hold
from harness.checks import assert_refusal, verdict
from harness.control import Control
from harness.hello import hello_for
from harness.inside import Inside
from harness.origin import echo
from harness.wait import until

LONG = {"limits": {"ask_hold_ms": 60000, "drain_timeout_ms": 500}}
SHORT = {"limits": {"ask_hold_ms": 50, "drain_timeout_ms": 500}}


@pytest.fixture
def asking(world):
    for name in ("a.test", "b.test", "c.test", "denied.test"):
        world.tcp_origin(name, handler=echo)
    world.agent("alpha", allow=["a.test"], deny=["denied.test"], unlisted="ask")
    world.agent("beta", allow=["a.test"])
    return world


@pytest.fixture
def proxy(asking):
    return asking.start(**LONG)


@pytest.fixture
def control(proxy):
    with proxy.control() as connection:
        yield connection


def assert_relays(client, host):
    assert client.read_response("CONNECT").status == 200
    hello = hello_for(host)
    client.send(hello)
    assert client.recv_exactly(len(hello)) == hello


def test_curl_is_held_answered_and_goes_through(world):
    world.tls_origin("b.test")
    world.agent("alpha", allow=[], unlisted="ask")
    proxy = world.start(**LONG)
    runs = []
    thread = threading.Thread(
        target=lambda: runs.append(proxy.curl(f"https://b.test:{world.port}/x", seconds=40)))
    thread.start()
    with proxy.control() as control:
        ask = until(lambda: find(control, "b.test"), 20)
        assert "b.test" not in world.dns.names_asked()
        control.do("answer", ask=ask["id"], verdict="allow")
    thread.join(45)
    assert runs[0].code == 0 and runs[0].out == b"ok", runs[0].err
    lines = [line["event"] for line in proxy.audit.entries(request=ask["id"])]
    assert lines[:3] == ["ask", "answer", "open"]


def test_an_answer_lets_a_held_request_through(asking, proxy, control):
    client, ask = hold(proxy, control, "b.test", asking.port)
    assert {"id", "agent", "host", "port", "scheme", "method", "reason", "count", "held", "first_seen",
            "expires"} <= set(ask)
    assert (ask["agent"], ask["scheme"], ask["method"], ask["reason"], ask["count"], ask["held"]) == \
        ("alpha", "connect", "CONNECT", "host-not-allowed", 1, 1)
    answer = control.do("answer", ask=ask["id"], verdict="allow", ttl_seconds=600, reason="a ticket")
    assert_relays(client, "b.test")
    line = proxy.audit.only(event="ask")
    assert (line["host"], line["request"], line["reason"]) == ("b.test", ask["id"], "host-not-allowed")
    said = proxy.audit.only(event="answer")
    assert said["verdict"] == "allow" and "uid" in said["actor"] and "a ticket" in said["detail"]
    assert answer["grant"] in said["detail"]
    grants = control.do("agent", agent="alpha")["agent"]["grants"]
    assert [one["hosts"] for one in grants] == [[f"b.test:{asking.port}"]]
    assert grants[0]["seconds_left"] <= 600
    assert control.do("asks")["asks"] == []
    # Only what was asked.
    assert control.do("explain", agent="alpha", host="b.test", port=asking.port + 1)["verdict"] == "deny"
    assert control.do("revoke", agent="alpha", grant=answer["grant"])["ended"] == [answer["grant"]]
    assert client.is_closed(20)


def test_an_approval_without_a_time_ends_after_ten_minutes(asking, proxy, control):
    _, ask = hold(proxy, control, "b.test", asking.port)
    control.do("answer", ask=ask["id"], verdict="allow")
    assert 0 < control.do("agent", agent="alpha")["agent"]["grants"][0]["seconds_left"] <= 600


def test_a_refusal_is_told_at_once_and_remembered(asking, proxy, control):
    client, ask = hold(proxy, control, "b.test", asking.port)
    control.do("answer", ask=ask["id"], verdict="deny", reason="not this one")
    answer = client.read_response("CONNECT")
    body = assert_refusal(answer, "host-not-allowed")
    assert answer.value("X-Stile-Request") == body["request"] == ask["id"]
    assert 500 < int(answer.value("Retry-After")) <= 600
    assert "said no" in body["message"]
    # Not asked again, and not held.
    again = proxy.connect("b.test", asking.port)
    assert again.value("X-Stile-Request") == ask["id"]
    assert control.do("asks")["asks"] == []
    assert proxy.audit.only(event="answer")["verdict"] == "deny"
    assert len(proxy.audit.entries(event="deny", request=ask["id"])) == 2
    assert len(proxy.audit.entries(event="ask")) == 1


def test_nobody_answers(asking):
    proxy = asking.start(**SHORT)
    answer = proxy.connect("b.test", asking.port)
    body = assert_refusal(answer, "host-not-allowed")
    with proxy.control() as control:
        ask = find(control, "b.test")
    assert answer.value("X-Stile-Request") == body["request"] == ask["id"]
    assert int(answer.value("Retry-After")) > 0
    assert f"http://stile.internal/v1/asks/{ask['id']}" in body["message"]
    assert ask["held"] == 0
    assert proxy.audit.only(event="deny")["request"] == ask["id"]
    assert "b.test" not in asking.dns.names_asked()


def test_only_what_lacks_a_rule_asks(asking, proxy, control):
    assert verdict(proxy, asking, "denied.test") == "host-denied"
    assert proxy.connect("1.2.3.4", asking.port).reason == "ip-literal"
    assert proxy.connect("b_c.test", asking.port).reason == "bad-request"
    assert verdict(proxy, asking, "b.test", "beta") == "host-not-allowed"
    assert proxy.connect("stile.internal", asking.port).reason == "host-not-allowed"
    tunnel = proxy.tunnel("a.test", asking.port)
    tunnel.send(hello_for("other.test"))
    tunnel.recv_to_end(20)
    assert control.do("asks")["asks"] == []
    assert proxy.audit.entries(event="ask") == []


def test_one_host_waits_on_one_ask_and_one_answer_is_for_all(asking, proxy, control):
    clients = [hold(proxy, control, "b.test", asking.port)[0] for _ in range(3)]
    ask = find(control, "b.test")
    assert (ask["count"], ask["held"]) == (3, 3)
    control.do("answer", ask=ask["id"], verdict="allow")
    for client in clients:
        assert_relays(client, "b.test")
    assert len(proxy.audit.entries(event="ask")) == 1


def test_every_worker_hears_the_answer(asking):
    proxy = asking.start(server={"workers": 3}, **LONG)
    with proxy.control() as control:
        for host, said in (("b.test", "allow"), ("c.test", "deny")):
            clients = [proxy.client(seconds=30) for _ in range(20)]
            for client in clients:
                client.send(connect_head(host, asking.port))
            until(lambda name=host: (find(control, name) or {"held": 0})["held"] == 20, 20)
            control.do("answer", ask=find(control, host)["id"], verdict=said)
            expected = 200 if said == "allow" else 403
            assert {client.read_response("CONNECT").status for client in clients} == {expected}
        assert len(proxy.audit.entries(event="ask")) == 2


def test_once_means_once(asking, proxy, control):
    clients = [hold(proxy, control, "b.test", asking.port)[0] for _ in range(2)]
    control.do("answer", ask=find(control, "b.test")["id"], verdict="allow", max_requests=1)
    answers = [client.read_response("CONNECT") for client in clients]
    assert sorted(answer.status for answer in answers) == [200, 403]


def test_an_approval_is_for_nothing_else(asking, proxy, control):
    _, ask = hold(proxy, control, "b.test", asking.port)
    for hosts in (["c.test"], [".other.test"], [f"b.test:{asking.port + 1}"], ["http://b.test"]):
        error = control.refused("answer", ask=ask["id"], verdict="allow", hosts=hosts)
        assert error["code"] == "bad-request" and "b.test" in error["message"], hosts
    assert find(control, "b.test")["held"] == 1
    control.do("answer", ask=ask["id"], verdict="allow", hosts=[".test"])
    assert verdict(proxy, asking, "c.test") is None
    assert verdict(proxy, asking, "denied.test") == "host-denied"


def test_asks_are_bounded_and_the_rest_is_refused_at_once(asking):
    proxy = asking.start(**SHORT)
    for number in range(16):
        answer = proxy.connect(f"h{number}.test", asking.port)
        assert answer.value("X-Stile-Request")
    answer = proxy.connect("more.test", asking.port)
    assert_refusal(answer, "host-not-allowed")
    assert answer.value("X-Stile-Request") is None
    with proxy.control() as control:
        assert len(control.do("asks")["asks"]) == 16
    metrics = proxy.metrics()
    assert metrics.total("stile_asks_open", agent="alpha") == 16
    assert metrics.total("stile_asks_total", agent="alpha", result="over-limit") == 1
    assert len(proxy.audit.entries(event="ask")) == 16


def test_held_requests_are_bounded(asking, proxy, control):
    clients = [proxy.client(seconds=30) for _ in range(64)]
    for client in clients:
        client.send(connect_head("b.test", asking.port))
    until(lambda: (find(control, "b.test") or {"held": 0})["held"] == 64, 20)
    answer = proxy.connect("b.test", asking.port)
    assert_refusal(answer, "host-not-allowed")
    assert answer.value("X-Stile-Request") == find(control, "b.test")["id"]
    # The place of one that leaves is free at once.
    clients[0].close()
    until(lambda: find(control, "b.test")["held"] == 63, 20)
    control.do("answer", ask=find(control, "b.test")["id"], verdict="deny")
    for client in clients[1:]:
        assert client.read_response("CONNECT").reason == "host-not-allowed"


def test_a_rule_made_meanwhile_answers(asking, proxy, control):
    client, ask = hold(proxy, control, "b.test", asking.port)
    control.do("allow", agent="alpha", hosts=["b.test"])
    assert_relays(client, "b.test")
    assert control.do("asks")["asks"] == []
    assert control.refused("answer", ask=ask["id"], verdict="allow")["code"] == "conflict"
    assert proxy.audit.only(event="answer")["actor"] == "stiled"


@pytest.mark.parametrize("fields", [{}, {"agent": "alpha"}])
def test_the_kill_switch_ends_the_wait(asking, proxy, control, fields):
    client, _ = hold(proxy, control, "b.test", asking.port)
    control.do("mode", mode="offline", **fields)
    assert_refusal(client.read_response("CONNECT"), "offline")


def test_a_deny_rule_made_meanwhile_ends_the_wait(asking, proxy, control):
    client, ask = hold(proxy, control, "b.test", asking.port)
    asking.agents[0]["deny"].append("b.test")
    proxy.write_config()
    control.do("reload")
    assert_refusal(client.read_response("CONNECT"), "host-denied")
    assert control.refused("answer", ask=ask["id"], verdict="allow")["code"] == "conflict"


def test_removing_the_agent_ends_its_asks(asking, proxy, control):
    client, ask = hold(proxy, control, "b.test", asking.port)
    control.do("remove-agent", agent="alpha")
    answer = client.read_response("CONNECT")
    assert answer is None or answer.reason == "revoked"
    assert control.do("asks")["asks"] == []
    assert control.refused("answer", ask=ask["id"], verdict="allow")["code"] == "bad-request"


def test_an_agent_that_expires_is_not_held_any_longer(asking):
    proxy = asking.start(**LONG)
    with proxy.control() as control:
        address = asking.site.new_agent_address()
        proxy.addresses["gamma"] = address
        control.do("put-agent", card={"agent_id": "gamma", "source": [address], "unlisted": "ask",
                                      "allowed_hosts": [], "ttl_seconds": 3})
        client, _ = hold(proxy, control, "b.test", asking.port, "gamma")
        assert_refusal(client.read_response("CONNECT"), "agent-expired")


def test_draining_ends_the_wait(asking, proxy, control):
    client, _ = hold(proxy, control, "b.test", asking.port)
    proxy.signal(signal.SIGTERM)
    assert_refusal(client.read_response("CONNECT"), "draining")
    assert proxy.wait_exit() == 0


def test_asks_and_refusals_are_kept_over_restarts(asking, proxy, control):
    _, refused = hold(proxy, control, "b.test", asking.port)
    control.do("answer", ask=refused["id"], verdict="deny")
    _, ask = hold(proxy, control, "c.test", asking.port)
    proxy.stop()
    proxy.start()
    with proxy.control() as later:
        kept = find(later, "c.test")
        assert (kept["id"], kept["held"], kept["first_seen"]) == (ask["id"], 0, ask["first_seen"])
        assert proxy.connect("b.test", asking.port).value("X-Stile-Request") == refused["id"]
        client, again = hold(proxy, later, "c.test", asking.port)
        assert again["id"] == ask["id"]
        later.do("answer", ask=ask["id"], verdict="allow")
        assert_relays(client, "c.test")


def test_asks_of_a_changed_agent_do_not_come_back(asking, proxy, control):
    hold(proxy, control, "b.test", asking.port)
    proxy.stop()
    asking.agents[0]["source"] = [asking.site.new_agent_address()]
    proxy.start()
    with proxy.control() as later:
        assert later.do("asks")["asks"] == []


def test_an_answer_is_given_once(asking, proxy, control):
    _, ask = hold(proxy, control, "b.test", asking.port)
    control.do("answer", ask=ask["id"], verdict="allow")
    assert control.refused("answer", ask=ask["id"], verdict="deny")["code"] == "conflict"
    assert control.refused("answer", ask="000000000000", verdict="deny")["code"] == "bad-request"
    assert control.refused("answer", ask=ask["id"], verdict="would-deny")["code"] == "bad-request"


def test_the_read_only_socket_lists_and_does_not_answer(asking):
    proxy = asking.proxy(**LONG)
    proxy.settings["server"]["read_only_group"] = "nogroup"
    proxy.start()
    with proxy.control() as control:
        _, ask = hold(proxy, control, "b.test", asking.port)
    path = proxy.settings["server"]["control"].replace("control.sock", "read.sock")
    with Control(path) as reader:
        assert find(reader, "b.test")["id"] == ask["id"]
        assert reader.refused("answer", ask=ask["id"], verdict="allow")["code"] == "forbidden"
        assert reader.ask("asks", follow=True)["asks"][0]["id"] == ask["id"]


def test_asks_can_be_followed(asking, proxy, control):
    with proxy.control() as follower:
        assert follower.do("asks", follow=True)["asks"] == []
        client, ask = hold(proxy, control, "b.test", asking.port)
        line = follower.read()
        assert line["event"] == "ask" and line["ask"]["id"] == ask["id"]
        control.do("answer", ask=ask["id"], verdict="deny")
        client.read_response("CONNECT")
        while (line := follower.read())["event"] != "answer":
            assert line["event"] == "ask"
        assert (line["id"], line["verdict"], line["state"]) == (ask["id"], "deny", "refused")


def test_metrics_count_answers(asking, proxy, control):
    for host, said in (("b.test", "allow"), ("c.test", "deny")):
        _, ask = hold(proxy, control, host, asking.port)
        control.do("answer", ask=ask["id"], verdict=said)
        assert proxy.metrics().total("stile_asks_total", agent="alpha", result=said) == 1
    metrics = proxy.metrics()
    assert metrics.total("stile_ask_answer_seconds_count") == 2
    assert metrics.total("stile_asks_open", agent="alpha") == 0
    assert control.do("status")["asks"] == 0


def test_plain_http_asks_for_plain_http(world):
    origin = world.http_origin("b.test")
    world.agent("alpha", allow=[], unlisted="ask")
    proxy = world.start(**LONG)
    client = proxy.client(seconds=30)
    client.send(f"GET http://b.test:{world.http_port}/x?secret=1 HTTP/1.1\r\n"
                f"Host: b.test:{world.http_port}\r\n\r\n".encode())
    with proxy.control() as control:
        ask = until(lambda: find(control, "b.test"), 20)
        assert (ask["scheme"], ask["method"], ask["path"]) == ("http", "GET", "/x")
        assert "secret" not in json.dumps(ask)
        control.do("answer", ask=ask["id"], verdict="allow")
        assert client.read_response("GET").status == 200
        assert [one.target for one in origin.requests] == ["/x?secret=1"]
        # A tunnel was not asked for.
        assert control.do("explain", agent="alpha", host="b.test", port=world.port)["verdict"] == "deny"


def test_a_request_inside_asks_for_exactly_itself(world):
    world.origin = world.tls_origin("a.test")
    world.agent("alpha", allow=[], unlisted="ask", request=[{"host": "a.test", "paths": ["/x"]}])
    proxy = world.start(**LONG)
    inside = Inside(world, proxy)
    inside.send("POST", "/make/**", body=b"hi")
    with proxy.control() as control:
        ask = until(lambda: find(control, "a.test"), 20)
        assert (ask["scheme"], ask["method"], ask["path"], ask["reason"]) == \
            ("https", "POST", "/make/**", "method-not-allowed")
        error = control.refused("answer", ask=ask["id"], verdict="allow", hosts=[".test"])
        assert error["code"] == "bad-request"
        control.do("answer", ask=ask["id"], verdict="allow", ttl_seconds=600)
        assert inside.client.read_response("POST").status == 200
        assert inside.ask("POST", "/make/**", body=b"again").status == 200
        explained = control.do("explain", agent="alpha", url=f"https://a.test:{world.port}/make/y",
                               method="POST")
        assert explained["verdict"] == "deny"
    assert [(one.method, one.target) for one in world.origin.requests] == [("POST", "/make/**")] * 2


def test_explain_knows_that_a_person_would_be_asked(asking, proxy, control):
    explained = control.do("explain", agent="alpha", host="b.test", port=asking.port)
    assert explained["asks"] is True and "A person is asked" in explained["message"]
    assert control.do("explain", agent="alpha", host="denied.test", port=asking.port)["asks"] is False
    assert control.do("asks")["asks"] == []
