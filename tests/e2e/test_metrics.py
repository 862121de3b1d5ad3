"""Metrics and health: the names of the reference, and no series that an agent could make."""

import socket
import subprocess

import pytest
from harness.metrics import http_get
from harness.origin import echo
from harness.wait import until

NAMES = {
    "stile_build_info", "stile_requests_total", "stile_tunnels_open", "stile_connections_open",
    "stile_bytes_total", "stile_connect_duration_seconds_bucket",
    "stile_connect_duration_seconds_count", "stile_connect_duration_seconds_sum",
    "stile_dns_queries_total", "stile_dns_cache_total", "stile_policy_generation",
    "stile_policy_rules", "stile_policy_reloads_total",
    "stile_policy_last_reload_timestamp_seconds", "stile_cards_rejected",
    "stile_audit_events_total", "stile_audit_gaps_total", "stile_audit_healthy", "process_cpu_seconds_total",
    "process_resident_memory_bytes", "process_open_fds", "process_start_time_seconds",
}
LABELS = {
    "stile_requests_total": {"agent", "method", "verdict", "reason"},
    "stile_tunnels_open": {"agent"}, "stile_connections_open": set(),
    "stile_connections_refused_total": {"agent"}, "stile_bytes_total": {"agent", "direction"},
    "stile_dns_queries_total": {"result"}, "stile_dns_cache_total": {"result"},
    "stile_policy_generation": set(), "stile_policy_rules": {"agent"},
    "stile_policy_reloads_total": {"result"}, "stile_cards_rejected": set(),
    "stile_grants_active": {"agent"}, "stile_budget_remaining_bytes": {"agent", "direction"},
    "stile_budget_remaining_requests": {"agent"}, "stile_budget_remaining_tokens": {"agent"},
    "stile_audit_events_total": set(), "stile_audit_gaps_total": set(),
    "stile_audit_healthy": set(),
    "stile_state_write_failures_total": set(),
}


@pytest.fixture
def busy(world):
    """A proxy that has let through, refused and failed."""
    world.tcp_origin("o.test", handler=echo)
    world.http_origin("h.test")
    world.agent("alpha", allow=["o.test", "h.test", "gone.test"])
    proxy = world.start()
    client = proxy.open_tunnel("o.test", world.port)
    client.recv_exactly(len(client.hello))
    proxy.get(f"http://h.test:{world.http_port}/")
    proxy.connect("x.test", world.port)
    proxy.connect("gone.test", world.port)
    proxy.connect("o.test", world.port, agent="stranger")
    return proxy


def test_names_and_labels_are_those_of_the_reference(busy):
    metrics = busy.metrics()
    assert NAMES <= metrics.names()
    for name, labels in LABELS.items():
        for have, _ in metrics.series(name):
            assert set(have) == labels, (name, have)


def test_promtool_finds_nothing_to_complain_of(busy):
    done = subprocess.run(["promtool", "check", "metrics"], input=busy.metrics().text.encode(),
                          capture_output=True, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, b"", b"")


def test_content_type_is_the_text_format(busy):
    _, _, kind = http_get(busy.metrics_address, "/metrics")
    assert kind.startswith("text/plain") and "version=0.0.4" in kind


def test_requests_are_counted_by_verdict_and_reason(busy):
    metrics = busy.metrics()

    def count(**labels):
        return metrics.total("stile_requests_total", **labels)
    assert count(agent="alpha", method="CONNECT", verdict="allow", reason="none") == 1
    assert count(agent="alpha", method="GET", verdict="allow", reason="none") == 1
    assert count(agent="alpha", verdict="deny", reason="host-not-allowed") == 1
    assert count(agent="alpha", verdict="deny", reason="dns-failure") == 1
    assert count(agent="-", verdict="deny", reason="unknown-agent") == 1
    assert count() == 5


def test_open_things_are_gauges_that_go_down(busy):
    assert busy.metrics().total("stile_tunnels_open", agent="alpha") == 1
    assert busy.metrics().total("stile_connections_open") >= 1
    for client in busy.clients:
        client.close()
    until(lambda: busy.metrics().total("stile_tunnels_open") == 0)
    until(lambda: busy.metrics().total("stile_connections_open") == 0)


def test_audit_lines_are_counted(busy):
    until(lambda: busy.metrics().total("stile_audit_events_total") == len(busy.audit.raw_lines()))
    assert busy.metrics().total("stile_audit_gaps_total") == 0


def test_late_refusals_are_counted_once_as_refused(world):
    world.tcp_origin("o.test")
    world.agent("alpha", allow=["o.test"])
    proxy = world.start()
    client = proxy.tunnel("o.test", world.port)
    client.send(b"not tls")
    client.recv_to_end()
    metrics = proxy.metrics()
    assert metrics.total("stile_requests_total", verdict="deny", reason="not-tls") == 1
    assert metrics.total("stile_requests_total") == 1


def test_observed_requests_have_their_own_verdict(world):
    world.tcp_origin("o.test", handler=echo)
    world.agent("alpha", mode="observe")
    proxy = world.start()
    proxy.open_tunnel("o.test", world.port)
    until(lambda: proxy.metrics().total("stile_requests_total", verdict="would-deny",
                                        reason="host-not-allowed") == 1)


def test_what_an_agent_sends_never_makes_a_series(world):
    world.agent("alpha", allow=[".test"])
    proxy = world.start()

    def provoke(number):
        proxy.connect(f"host{number}.test", world.port)
        proxy.connect(f"host{number}.other", world.port)
        proxy.get(f"http://evil{number}.other:{world.http_port}/p{number}", method=f"M{number}")
        proxy.get(f"http://evil.other:{1000 + number}/", headers=[f"X-{number}: y"])
    provoke(0)
    before = set(proxy.metrics().samples)
    for number in range(1, 30):
        provoke(number)
    metrics = proxy.metrics()
    assert set(metrics.samples) == before
    assert metrics.total("stile_requests_total", method="other") == 30
    assert "evil" not in metrics.text and "host1" not in metrics.text
    assert "M1" not in {labels["method"] for labels, _ in metrics.series("stile_requests_total")}


def test_health_and_readiness(busy):
    assert http_get(busy.metrics_address, "/healthz")[0] == 200
    assert http_get(busy.metrics_address, "/readyz")[0] == 200
    assert http_get(busy.metrics_address, "/")[0] == 404
    assert http_get(busy.metrics_address, "/metricsx")[0] == 404


def test_idle_clients_of_the_metrics_do_not_block_others(busy):
    host, port = busy.metrics_address.rsplit(":", 1)
    idle = [socket.create_connection((host, int(port)), timeout=30) for _ in range(40)]  # 32 are served
    try:
        assert http_get(busy.metrics_address, "/healthz")[0] == 200
    finally:
        for sock in idle:
            sock.close()


def test_metrics_listener_is_no_proxy(world, busy):
    host, port = busy.metrics_address.rsplit(":", 1)
    for request in (f"CONNECT o.test:{world.port} HTTP/1.1\r\nHost: o.test\r\n\r\n",
                    f"GET http://h.test:{world.http_port}/ HTTP/1.1\r\nHost: h.test\r\n\r\n",
                    "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
                    "\x00\x01\x02\r\n\r\n"):
        with busy.client("alpha", to=(host, int(port))) as client:
            client.send(request.encode())
            answer = client.read_response()
            assert answer is None or answer.status in (400, 404, 405), answer


def test_proxy_port_serves_no_metrics(busy):
    with busy.client() as client:
        client.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.read_response().reason == "bad-request"


def test_metrics_can_be_turned_off(world):
    world.agent("alpha")
    proxy = world.proxy(server={"metrics": ""})
    proxy.start(wait=False)

    def serves():
        try:
            return proxy.connect("x.test", world.port).reason == "host-not-allowed"
        except OSError:
            return False
    until(serves)


def test_rules_and_generation_are_told(world):
    world.agent("alpha", allow=["a.test", "b.test"], deny=["c.test"])
    metrics = world.start().metrics()
    assert metrics.total("stile_policy_rules", agent="alpha") == 3
    assert metrics.total("stile_policy_generation") >= 1
    assert metrics.total("stile_build_info") == 1


def test_promtool_likes_an_untouched_daemon_too(world):
    done = subprocess.run(["promtool", "check", "metrics"],
                          input=world.start().metrics().text.encode(), capture_output=True,
                          check=False)
    assert (done.returncode, done.stderr) == (0, b"")
