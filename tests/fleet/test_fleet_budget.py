"""bytes_up of an agent in a fleet's policy is one budget for all hosts, handed out in slices."""

import json
import threading

from harness.wait import until

TOTAL = 1 << 20
SLICE = 64 << 10  # the smallest


def policy(world, total):
    return (f'[[agent]]\nid = "alpha"\nsource = ["{world.addresses["alpha"]}"]\nallow = ["o.test"]\n'
            f'bytes_up = {total}\n')


def make_hosts(fleet, world, *names):
    """Hosts whose agent reaches one origin."""
    origin = world.tcp_origin("o.test")
    world.agent("alpha")
    sections = {key: value for key, value in world.settings().items() if key in ("dns", "egress")}
    return origin, [fleet.host(name, addresses=world.addresses, **sections).start().is_connected()
                    for name in names]


def taken(fleet):
    return int(fleet.cluster.get("/stile/budgets/alpha") or 0)


def pour(client, size):
    """Sends until all is gone or the tunnel is."""
    def send():
        try:
            client.sock.sendall(b"x" * size)
        except OSError:
            pass
    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    return thread


def test_idle_hosts_take_nothing(fleet, world):
    _, hosts = make_hosts(fleet, world, "one", "two")
    fleet.publish("base", policy(world, TOTAL))
    for host in hosts:
        host.has("policy/base", 1)
    until(lambda: all('"policy/base":1' in (fleet.cluster.get(f"/stile/hosts/{host.name}") or "")
                      for host in hosts), 20, "the entries of the hosts")
    assert taken(fleet) == 0
    budget = hosts[0].ask("agent", agent="alpha")["agent"]["budgets"]["bytes_up"]
    assert (budget["total"], budget["slice"]) == (TOTAL, 0)


def test_a_slice_is_taken_when_an_agent_sends(fleet, world):
    origin, (host,) = make_hosts(fleet, world, "one")
    fleet.publish("base", policy(world, TOTAL))
    host.has("policy/base", 1)
    client = host.daemon.open_tunnel("o.test", world.port)
    until(lambda: len(origin.received) >= len(client.hello), 20, "the hello at the origin")
    until(lambda: taken(fleet) in (SLICE, 2 * SLICE), 20, "a slice")
    # The store has it first, then the daemon.
    until(lambda: host.ask("agent", agent="alpha")["agent"]["budgets"]["bytes_up"]["slice"] == taken(fleet), 20,
          "the slice in the daemon")


def test_all_hosts_together_get_the_budget_and_no_more(fleet, world):
    total = 4 * SLICE
    origin, hosts = make_hosts(fleet, world, "one", "two")
    fleet.publish("base", policy(world, total))
    for host in hosts:
        host.has("policy/base", 1)
    clients = [host.daemon.open_tunnel("o.test", world.port) for host in hosts]
    for client in clients:
        pour(client, 2 * total)
    for host in hosts:
        host.daemon.audit.wait_one(event="close", reason="budget-exhausted", seconds=40)
    assert taken(fleet) == total
    until(lambda: len(origin.received) >= total // 2, 20, "half of the budget at the origin")
    assert len(origin.received) <= total


def test_a_larger_budget_goes_on_where_the_smaller_ended(fleet, world):
    origin, (host,) = make_hosts(fleet, world, "one")
    fleet.publish("base", policy(world, SLICE))
    host.has("policy/base", 1)
    pour(host.daemon.open_tunnel("o.test", world.port), 2 * SLICE)
    host.daemon.audit.wait_one(event="close", reason="budget-exhausted", seconds=40)
    assert len(origin.received) <= SLICE
    fleet.publish("base", policy(world, 3 * SLICE))
    host.has("policy/base", 2)
    pour(host.daemon.open_tunnel("o.test", world.port), SLICE)
    until(lambda: len(origin.received) > SLICE, 20, "more bytes")


def test_a_host_that_dies_loses_its_slice(fleet, world):
    origin, (host,) = make_hosts(fleet, world, "one")
    fleet.publish("base", policy(world, TOTAL))
    host.has("policy/base", 1)
    host.daemon.open_tunnel("o.test", world.port)
    until(lambda: origin.received and taken(fleet) > 0, 20, "a slice")
    host.process.kill()
    host.process.wait(10)
    host.process = None
    before = taken(fleet)
    host.daemon.kill()
    host.daemon.start()
    host.join().is_connected()
    state = json.loads((host.folder / "state" / "fleet.json").read_text())
    assert sum(slice["bytes_up"] for slice in state["slices"]) <= before
    assert taken(fleet) >= before  # nothing went back


def test_a_counter_that_cannot_be_read_gives_nothing_away(fleet, world):
    origin, (host,) = make_hosts(fleet, world, "one")
    fleet.cluster.put("/stile/budgets/alpha", "-1")
    fleet.publish("base", policy(world, TOTAL))
    host.has("policy/base", 1)
    host.daemon.client().send(f"CONNECT o.test:{world.port} HTTP/1.1\r\n\r\n".encode())
    until(lambda: host.ask("agent", agent="alpha")["agent"]["budgets"]["bytes_up"]["waiting"]
          or host.daemon.audit.entries(event="open"), 20, "an agent that waits")
    assert len(origin.received) == 0 and fleet.cluster.get("/stile/budgets/alpha") == "-1"
