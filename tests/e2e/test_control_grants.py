"""allow, revoke, mode, put-agent, remove-agent: what they open, close and leave alone."""

import pytest
from harness.checks import assert_refusal, verdict
from harness.hello import hello_for
from harness.origin import echo


def open_echo(proxy, world, host, agent="alpha"):
    client = proxy.open_tunnel(host, world.port, agent)
    client.recv_exactly(len(client.hello))
    return client


def assert_alive(client):
    client.send(b"still there?")
    assert client.recv_exactly(12) == b"still there?"


def closed_lines(proxy, count=1, **fields):
    return proxy.audit.wait_count(count, 20, event="close", reason="revoked", **fields)


@pytest.fixture
def proxy(world):
    for name in ("a.test", "b.test", "deep.s.test", "denied.test"):
        world.tcp_origin(name, handler=echo)
    world.agent("alpha", allow=["a.test", ".s.test"], deny=["denied.test", ".no.test"])
    world.agent("beta", allow=["a.test", "b.test"])
    return world.start()


@pytest.fixture
def control(proxy):
    with proxy.control() as connection:
        yield connection


def test_grant_opens_what_the_policy_does_not(world, proxy, control):
    assert verdict(proxy, world, "b.test") == "host-not-allowed"
    grant = control.do("allow", agent="alpha", hosts=["b.test"], reason="a ticket")["grant"]
    assert verdict(proxy, world, "b.test") is None
    line = proxy.audit.only(event="grant")
    assert line["agent"] == "alpha" and "uid" in line["actor"] and "a ticket" in line["detail"]
    shown = control.do("agent", agent="alpha")["agent"]["grants"]
    assert [(one["id"], one["hosts"], one["reason"]) for one in shown] == [
        (grant, ["b.test"], "a ticket")]
    # Nobody else got it.
    assert verdict(proxy, world, "deep.s.test", "beta") == "host-not-allowed"


def test_revoking_a_grant_closes_what_it_opened(world, proxy, control):
    grant = control.do("allow", agent="alpha", hosts=["b.test"])["grant"]
    granted, own = open_echo(proxy, world, "b.test"), open_echo(proxy, world, "a.test")
    other = open_echo(proxy, world, "b.test", "beta")
    assert control.do("revoke", agent="alpha", grant=grant) == {
        "ok": True, "ended": [grant], "denied": []}
    assert granted.is_closed(20)
    assert closed_lines(proxy)[0]["host"] == "b.test"
    assert_alive(own)
    assert_alive(other)
    assert verdict(proxy, world, "b.test") == "host-not-allowed"


def test_revoking_a_host_that_the_policy_allows_denies_it(world, proxy, control):
    tunnel, other = open_echo(proxy, world, "a.test"), open_echo(proxy, world, "a.test", "beta")
    assert control.do("revoke", agent="alpha", hosts=["a.test"])["denied"] == ["a.test"]
    assert tunnel.is_closed(20)
    assert verdict(proxy, world, "a.test") == "host-denied"
    assert_alive(other)
    assert control.do("allow", agent="alpha", hosts=["a.test"]) == {
        "ok": True, "restored": ["a.test"]}
    assert verdict(proxy, world, "a.test") is None


def test_allowing_a_revoked_host_leaves_nothing_that_outlives_its_rule(world, proxy, control):
    control.do("revoke", agent="alpha", hosts=["a.test"])
    control.do("allow", agent="alpha", hosts=["a.test"])
    assert control.do("agent", agent="alpha")["agent"]["grants"] == []
    world.agents[0]["allow"].remove("a.test")
    proxy.write_config()
    control.do("reload")
    assert verdict(proxy, world, "a.test") == "host-not-allowed"


def test_revoking_a_host_below_a_suffix_leaves_the_rest_of_it(world, proxy, control):
    world.dns.host("other.s.test", world.new_address())
    control.do("revoke", agent="alpha", hosts=["deep.s.test"])
    assert verdict(proxy, world, "deep.s.test") == "host-denied"
    assert verdict(proxy, world, "other.s.test") != "host-denied"


def test_revoked_host_comes_back_with_a_change_of_the_entry_only(world, proxy, control):
    control.do("revoke", agent="alpha", hosts=["a.test"])
    control.do("reload")
    assert verdict(proxy, world, "a.test") == "host-denied"
    world.agents[0]["allow"].append("new.test")
    proxy.write_config()
    control.do("reload")
    assert verdict(proxy, world, "a.test") is None


def test_revoking_what_nobody_allows_changes_no_reason(world, proxy, control):
    control.do("allow", agent="alpha", hosts=[".b.test", "b.test"])
    answer = control.do("revoke", agent="alpha", hosts=[".b.test"])
    assert len(answer["ended"]) == 1 and answer["denied"] == []
    assert verdict(proxy, world, "b.test") == "host-not-allowed"


@pytest.mark.parametrize("pattern", ["denied.test", "no.test", "x.no.test", "*.no.test", ".no.test",
                                     "denied.test:8443", "http://denied.test"])
def test_no_grant_beats_a_deny_rule(proxy, control, pattern):
    error = control.refused("allow", agent="alpha", hosts=["fine.test", pattern])
    assert error["code"] == "denied-by-rule" and "stile.toml" in error["message"]
    assert control.do("agent", agent="alpha")["agent"]["grants"] == []


def test_wider_grant_does_not_open_what_is_denied(world, proxy, control):
    control.do("allow", agent="alpha", hosts=["*"])
    assert verdict(proxy, world, "b.test") is None
    assert verdict(proxy, world, "denied.test") == "host-denied"


def test_grant_ends_by_its_time_and_closes_what_it_opened(world, proxy, control):
    control.do("allow", agent="alpha", hosts=["b.test"], ttl_seconds=2)
    tunnel, own = open_echo(proxy, world, "b.test"), open_echo(proxy, world, "a.test")
    assert tunnel.is_closed(30)
    closed_lines(proxy)
    assert verdict(proxy, world, "b.test") == "host-not-allowed"
    assert_alive(own)
    assert control.do("agent", agent="alpha")["agent"]["grants"] == []


def test_grant_counts_requests_and_ends_new_ones_only(world, proxy, control):
    control.do("allow", agent="alpha", hosts=["b.test"], max_requests=2)
    first, second = open_echo(proxy, world, "b.test"), open_echo(proxy, world, "b.test")
    assert verdict(proxy, world, "b.test") == "host-not-allowed"
    control.do("allow", agent="alpha", hosts=["unrelated.test"])  # judges everything again
    assert_alive(first)
    assert_alive(second)
    assert control.do("agent", agent="alpha")["agent"]["grants"][0]["requests_left"] == 0


def test_grant_is_not_charged_where_the_policy_allows(world, proxy, control):
    control.do("allow", agent="alpha", hosts=["a.test"], max_requests=1, bytes_up=1000)
    for _ in range(3):
        open_echo(proxy, world, "a.test").send(b"x" * 2000)
    left = control.do("agent", agent="alpha")["agent"]["grants"][0]
    assert (left["requests_left"], left["bytes_up_left"]) == (1, 1000)


def test_tunnel_that_only_a_grant_still_allows_spends_its_bytes(world):
    """Opened by the policy, which then goes: what is left is the grant, with its limit."""
    world.tcp_origin("a.test", handler=echo)
    agent = world.agent("alpha", allow=["a.test"])
    proxy = world.start()
    control = proxy.control()
    tunnel = open_echo(proxy, world, "a.test")
    control.do("allow", agent="alpha", hosts=["a.test"], max_requests=1, bytes_up=1000)
    agent["allow"] = ["other.test"]
    proxy.write_config()
    control.do("reload")
    assert_alive(tunnel)
    tunnel.try_send(b"x" * 5000)
    tunnel.recv_to_end(20)
    proxy.audit.wait_one(20, event="close", reason="budget-exhausted")
    left = control.do("agent", agent="alpha")["agent"]["grants"][0]
    assert (left["requests_left"], left["bytes_up_left"]) == (1, 0)


def test_grant_ends_by_its_bytes_in_mid_tunnel(world, proxy, control):
    control.do("allow", agent="alpha", hosts=["b.test"], bytes_up="100KiB")
    tunnel, own = proxy.open_tunnel("b.test", world.port), open_echo(proxy, world, "a.test")
    tunnel.try_send(b"x" * 400_000)
    tunnel.recv_to_end(20)
    line = proxy.audit.wait_one(20, event="close", reason="budget-exhausted")
    assert 100 * 1024 - 65536 <= line["bytes_up"] <= 100 * 1024 + 65536
    assert verdict(proxy, world, "b.test") == "host-not-allowed"
    assert_alive(own)


def test_offline_closes_everything_and_enforce_opens_it_again(world, proxy, control):
    tunnels = [open_echo(proxy, world, "a.test"), open_echo(proxy, world, "a.test", "beta")]
    control.do("mode", mode="offline")
    assert all(tunnel.is_closed(20) for tunnel in tunnels)
    assert verdict(proxy, world, "a.test") == verdict(proxy, world, "a.test", "beta") == "offline"
    assert control.do("status")["mode"] == "offline"
    control.do("mode", mode="enforce")
    assert verdict(proxy, world, "a.test") is None


def test_offline_cuts_all_that_is_open_before_it_is_answered(world, proxy, control):
    """So a change back that follows at once saves nothing."""
    tunnels = [open_echo(proxy, world, "a.test") for _ in range(300)]
    for mode in ("offline", "enforce"):
        control.send("mode", mode=mode)  # the second one waits for no answer
    assert control.read()["ok"] and control.read()["ok"]
    assert all(tunnel.is_closed(20) for tunnel in tunnels)


def test_offline_of_one_agent_is_not_undone_for_all(world, proxy, control):
    control.do("mode", mode="offline", agent="alpha")
    other = open_echo(proxy, world, "a.test", "beta")
    assert verdict(proxy, world, "a.test") == "offline"
    control.do("mode", mode="offline")
    control.do("mode", mode="enforce")
    assert other.is_closed(20)
    assert verdict(proxy, world, "a.test") == "offline"
    assert verdict(proxy, world, "a.test", "beta") is None
    control.do("mode", mode="enforce", agent="alpha")
    assert verdict(proxy, world, "a.test") is None


def test_observe_lets_through_and_tells(world, proxy, control):
    control.do("mode", mode="observe", agent="alpha")
    assert verdict(proxy, world, "b.test") is None
    proxy.open_tunnel("b.test", world.port)
    assert proxy.audit.wait_one(20, event="open", host="b.test")["verdict"] == "would-deny"


def card(world, agent="gamma", source=None, **more):
    world.addresses.setdefault(agent, source or world.site.new_agent_address())
    return {"agent_id": agent, "source": [source or world.addresses[agent]],
            "allowed_hosts": ["a.test"], **more}


def test_put_agent_adds_replaces_and_removes(world, proxy, control):
    made = card(world)
    assert verdict(proxy, world, "a.test", "gamma") == "unknown-agent"
    assert control.do("put-agent", card=made) == {"ok": True, "agent": "gamma"}
    tunnel = open_echo(proxy, world, "a.test", "gamma")
    control.do("put-agent", card={**made, "allowed_hosts": ["a.test", "b.test"]})
    assert_alive(tunnel)
    assert verdict(proxy, world, "b.test", "gamma") is None
    control.do("put-agent", card={**made, "allowed_hosts": ["b.test"]})
    assert tunnel.is_closed(20)
    assert verdict(proxy, world, "a.test", "gamma") == "host-not-allowed"
    control.do("remove-agent", agent="gamma")
    assert verdict(proxy, world, "b.test", "gamma") == "unknown-agent"
    assert control.refused("agent", agent="gamma")["code"] == "unknown-agent"
    details = [line["detail"] for line in proxy.audit.entries(event="policy", agent="gamma")]
    assert details == ["put-agent"] * 3 + ["remove-agent"]


def test_put_agent_that_is_another_one_loses_grants_and_connections(world, proxy, control):
    made = card(world, instance="one")
    control.do("put-agent", card=made)
    control.do("allow", agent="gamma", hosts=["b.test"])
    tunnel = open_echo(proxy, world, "a.test", "gamma")
    control.do("put-agent", card={**made, "instance": "two"})
    assert tunnel.is_closed(20)
    assert verdict(proxy, world, "b.test", "gamma") == "host-not-allowed"


@pytest.mark.parametrize("change, code", [
    ({"agent_id": "alpha"}, "conflict"),
    ({"source": "alpha"}, "conflict"),
    ({"allowed_hosts": ["not a host"]}, "bad-request"),
    ({"nonsense": 1}, "bad-request"),
    ({"listen": ["127.0.0.1:0"]}, "bad-request"),
    ({"allow_files": ["/nonexistent/list"]}, "bad-request"),
])
def test_put_agent_that_does_not_fit_is_refused(world, proxy, control, change, code):
    made = card(world)
    if change.get("source") == "alpha":
        change = {"source": [world.addresses["alpha"]]}
    assert control.refused("put-agent", card={**made, **change})["code"] == code
    assert verdict(proxy, world, "a.test", "gamma") == "unknown-agent"
    assert verdict(proxy, world, "a.test") is None


def test_removed_agent_of_the_config_stays_away_until_its_entry_changes(world, proxy, control):
    tunnel = open_echo(proxy, world, "a.test")
    control.do("remove-agent", agent="alpha")
    assert tunnel.is_closed(20)
    assert verdict(proxy, world, "a.test") == "unknown-agent"
    control.do("reload")
    assert verdict(proxy, world, "a.test") == "unknown-agent"
    world.agents[0]["allow"].append("new.test")
    proxy.write_config()
    control.do("reload")
    assert verdict(proxy, world, "a.test") is None


def test_agent_put_with_a_ttl_expires(world, proxy, control):
    control.do("put-agent", card=card(world, ttl_seconds=2))
    tunnel = open_echo(proxy, world, "a.test", "gamma")
    assert tunnel.is_closed(30)
    assert verdict(proxy, world, "a.test", "gamma") == "agent-expired"


def test_budget_reset_lets_an_agent_go_on(world):
    world.tcp_origin("a.test", handler=echo)
    world.agent("alpha", allow=["a.test"], bytes_up="64KiB")
    proxy = world.start()
    control = proxy.control()
    proxy.open_tunnel("a.test", world.port).try_send(b"x" * 300_000)
    proxy.audit.wait_one(20, event="close", reason="budget-exhausted")
    assert_refusal(proxy.connect("a.test", world.port), "budget-exhausted")
    assert control.do("agent", agent="alpha")["agent"]["budgets"]["bytes_up"]["left"] == 0
    control.do("budget-reset", agent="alpha")
    left = control.do("agent", agent="alpha")["agent"]["budgets"]["bytes_up"]
    assert left == {"total": 65536, "used": 0, "left": 65536}
    assert verdict(proxy, world, "a.test") is None
    assert proxy.audit.only(event="grant", agent="alpha")["detail"] == "budget-reset"


def test_idle_kept_connection_goes_with_its_host(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    client = proxy.client()
    assert client.get(f"http://h.test:{world.http_port}/").status == 200
    proxy.control().do("revoke", agent="alpha", hosts=["h.test"])
    assert client.is_closed(20)
    assert origin.connections


def test_request_that_is_still_dialling_is_judged_again(world):
    hole = world.blackhole()
    world.dns.host("slow.test", hole.address)
    world.agent("alpha", allow=["slow.test"])
    proxy = world.start(limits={"connect_timeout_ms": 20000})
    client = proxy.client()
    client.send(f"CONNECT slow.test:{world.port} HTTP/1.1\r\n\r\n".encode())
    world.dns.wait_question("slow.test")
    proxy.control().do("remove-agent", agent="alpha")
    assert_refusal(client.read_response("CONNECT"), "revoked")
    assert len(proxy.audit.entries(event="deny", reason="revoked")) == 1


def test_tunnel_still_in_its_hello_is_judged_again(world):
    origin = world.tcp_origin("a.test", handler=echo)
    world.agent("alpha", allow=["a.test"])
    proxy = world.start()
    tunnel = proxy.tunnel("a.test", world.port)
    proxy.control().do("revoke", agent="alpha", hosts=["a.test"])
    tunnel.try_send(hello_for("a.test"))
    tunnel.recv_to_end(20)
    assert proxy.audit.wait_one(20, event="deny", host="a.test")["reason"] in ("host-denied", "revoked")
    assert origin.received == b"" and not proxy.audit.entries(event="open")


def test_tunnel_still_in_its_hello_does_not_outlive_its_agent(world):
    """No snapshot tells of it: time alone has turned the verdict."""
    origin = world.tcp_origin("a.test", handler=echo)
    world.agent("beta", allow=["a.test"])
    proxy = world.start(limits={"client_hello_timeout_ms": 120000})
    proxy.control().do("put-agent", card=card(world, ttl_seconds=3))
    waiting, relaying = proxy.tunnel("a.test", world.port, "gamma"), open_echo(proxy, world, "a.test", "gamma")
    received = len(origin.received)
    assert relaying.is_closed(30)
    waiting.try_send(hello_for("a.test"))
    waiting.recv_to_end(20)
    line = proxy.audit.wait_one(20, event="deny", agent="gamma")
    assert line["reason"] == "agent-expired" and line["src"].endswith(f":{waiting.local_port}")
    assert len(origin.received) == received
