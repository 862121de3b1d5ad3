"""Connections with origins are kept for the next request: by agent and host, bounded, revocable."""

import resource
import signal

import pytest
from harness.checks import assert_refusal
from harness.wait import until

MOST_OF_AGENT = 256
FILES = 8192  # a worker keeps an eighth of its descriptors, a quarter of that for an agent: OriginPool


def get(proxy, world, host, path="/", agent="alpha"):
    answer = proxy.get(f"http://{host}:{world.http_port}{path}", agent)
    assert answer.status == 200, answer
    return answer


def open_ends(origin):
    return [conn for conn in origin.connections if not conn.ended]


def test_requests_to_many_hosts_in_turn_dial_each_host_once(world):
    origins = [world.http_origin(f"h{n}.test") for n in range(5)]
    world.agent("alpha", allow=["*"])
    proxy = world.start()
    with proxy.client() as client:
        for turn in range(4):
            for n in range(5):
                assert client.get(f"http://h{n}.test:{world.http_port}/{turn}").body == b"ok"
    assert [len(origin.connections) for origin in origins] == [1] * 5
    assert [origin.paths() for origin in origins] == [["/0", "/1", "/2", "/3"]] * 5
    opened = proxy.audit.entries(event="open")
    assert {line["origin"] for line in opened} == {f"{o.address}:{world.http_port}" for o in origins}


def test_another_connection_of_the_same_agent_uses_it(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    for number in range(3):
        get(proxy, world, "h.test", f"/{number}")
    assert len(origin.connections) == 1
    assert len(proxy.audit.entries(event="open")) == 3


def test_name_in_another_spelling_is_the_same_host(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    for host in ("h.test", "H.Test", "h.test."):
        get(proxy, world, host)
    assert len(origin.connections) == 1


def test_it_is_never_used_for_another_agent_or_another_life_of_it(world):
    origin = world.http_origin("h.test")
    for name in ("alpha", "beta"):
        world.agent(name, allow=["h.test"])
    proxy = world.start()
    get(proxy, world, "h.test", "/alpha")
    get(proxy, world, "h.test", "/beta", "beta")
    assert len(origin.connections) == 2
    # An agent that is put in place of another one under the same id.
    card = {"agent_id": "gamma", "instance": "1", "allowed_hosts": ["h.test"],
            "source": [world.site.new_agent_address()]}
    world.addresses["gamma"] = card["source"][0]
    for instance in ("1", "2"):
        proxy.control().do("put-agent", card={**card, "instance": instance})
        get(proxy, world, "h.test", f"/gamma{instance}", "gamma")
    assert len(origin.connections) == 4
    origin.connections[2].wait_ended()


def test_two_requests_at_once_use_two_connections(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    get(proxy, world, "h.test")

    def waits(exchange):
        until(lambda: len([r for r in origin.requests if r.target == "/wait"]) == 2)
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    origin.on("/wait", waits)
    with proxy.client() as one, proxy.client() as two:
        for client in (one, two):
            client.send(f"GET http://h.test:{world.http_port}/wait HTTP/1.1\r\n"
                        f"Host: h.test:{world.http_port}\r\n\r\n".encode())
        assert [client.read_response().status for client in (one, two)] == [200, 200]
    assert len(origin.connections) == 2


def test_connection_that_the_origin_closes_is_dropped(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    get(proxy, world, "h.test")
    before = proxy.open_files()
    origin.connections[0].half_close()
    until(lambda: proxy.open_files() < before)
    get(proxy, world, "h.test")
    assert len(origin.connections) == 2


def test_answer_that_nobody_asked_for_never_reaches_a_later_request(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    get(proxy, world, "h.test")
    before = proxy.open_files()
    origin.connections[0].send(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison")
    until(lambda: proxy.open_files() < before)
    assert get(proxy, world, "h.test").body == b"ok"


def revoke_by_reload(world, proxy):
    world.agents[0]["allow"] = ["other.test"]
    proxy.settings["agent"] = world.agents
    proxy.write_config()
    proxy.reload()


REVOCATIONS = {
    "reload": revoke_by_reload,
    "revoke": lambda world, proxy: proxy.control().do("revoke", agent="alpha", hosts=["h.test"]),
    "offline": lambda world, proxy: proxy.control().do("mode", mode="offline"),
    "offline of the agent":
        lambda world, proxy: proxy.control().do("mode", mode="offline", agent="alpha"),
    "drain": lambda world, proxy: proxy.signal(signal.SIGTERM),
}


@pytest.mark.parametrize("how", REVOCATIONS)
def test_whatever_revokes_a_host_closes_what_is_kept_for_it(world, how):
    origin = world.http_origin("h.test")
    other = world.http_origin("other.test")
    world.agent("alpha", allow=["h.test", "other.test"])
    proxy = world.start()
    for host in ("h.test", "other.test"):
        get(proxy, world, host)
    assert len(open_ends(origin)) == 1
    REVOCATIONS[how](world, proxy)
    origin.connections[0].wait_ended()
    if how in ("reload", "revoke"):
        assert_refusal(proxy.get(f"http://h.test:{world.http_port}/"), "host-not-allowed"
                       if how == "reload" else "host-denied")
        get(proxy, world, "other.test")
        assert len(other.connections) == 1, "what is still allowed is kept"


def test_removed_agent_takes_its_connections_along(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    address = world.addresses["beta"] = world.site.new_agent_address()
    proxy.control().do("put-agent", card={"agent_id": "beta", "source": [address],
                                          "allowed_hosts": ["h.test"]})
    get(proxy, world, "h.test", agent="beta")
    proxy.control().do("remove-agent", agent="beta")
    origin.connections[0].wait_ended()


def test_grant_that_runs_out_takes_its_connection_along(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=[])
    proxy = world.start()
    proxy.control().do("allow", agent="alpha", hosts=["h.test"], ttl_seconds=2)
    get(proxy, world, "h.test")
    origin.connections[0].wait_ended()


def test_number_kept_for_an_agent_is_bounded(world):
    origin = world.http_origin("h0.test")
    for n in range(MOST_OF_AGENT + 20):
        world.dns.host(f"h{n}.test", origin.address)
    world.agent("alpha", allow=["*"], requests_per_second=0)
    world.agent("beta", allow=["*"])
    proxy = world.start()
    proxy.stop()
    proxy.start(preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES)))
    with proxy.client() as client:
        for n in range(MOST_OF_AGENT + 20):
            assert client.get(f"http://h{n}.test:{world.http_port}/").status == 200
        until(lambda: len(open_ends(origin)) == MOST_OF_AGENT)
        get(proxy, world, "h0.test", agent="beta")
        until(lambda: len(open_ends(origin)) == MOST_OF_AGENT + 1)
        for n in range(MOST_OF_AGENT + 20):
            assert client.get(f"http://h{n}.test:{world.http_port}/again").status == 200
    assert len(origin.connections) == MOST_OF_AGENT + 20 + 1 + 20


@pytest.mark.long
def test_it_is_closed_when_nothing_came_for_half_a_minute(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    get(proxy, world, "h.test")
    origin.connections[0].wait_ended(40)
