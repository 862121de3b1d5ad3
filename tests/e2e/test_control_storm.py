"""Many clients change many agents at once while all of them are served."""

import os
import random
import threading

import pytest
from harness.client import Client
from harness.origin import echo
from harness.wait import until

HOSTS = [f"h{i}.test" for i in range(6)]
CLIENTS = 8


class Model:
    """What one agent may reach, after the changes that were answered."""

    def __init__(self, allowed):
        self.policy, self.granted, self.denied, self.mode = set(allowed), {}, set(), "enforce"

    def reason(self, host):
        if self.mode == "offline":
            return "offline"
        if host in self.denied:
            return "host-denied"
        return None if host in self.policy or host in self.granted.values() else "host-not-allowed"


def change(control, agent, model, dice):
    """One random change of one agent, in the daemon and in the model."""
    host = dice.choice(HOSTS)
    kind = dice.randrange(6)
    if kind <= 1 and len(model.granted) < 20:
        answer = control.do("allow", agent=agent, hosts=[host])
        if host in model.denied:
            assert answer == {"ok": True, "restored": [host]}
            model.denied.discard(host)
        else:
            model.granted[answer["grant"]] = host
    elif kind == 2 and model.granted:
        grant = dice.choice(sorted(model.granted))
        control.do("revoke", agent=agent, grant=grant)
        del model.granted[grant]
    elif kind <= 4:
        answer = control.do("revoke", agent=agent, hosts=[host])
        model.granted = {key: value for key, value in model.granted.items() if value != host}
        assert answer["denied"] == ([host] if host in model.policy - model.denied else [])
        if host in model.policy:
            model.denied.add(host)
    else:
        model.mode = dice.choice(["enforce", "enforce", "offline"])
        control.do("mode", agent=agent, mode=model.mode)


@pytest.mark.parametrize("agents, changes", [
    (200, 60), pytest.param(1000, 400, marks=pytest.mark.long)])
def test_storm_of_changes_ends_where_a_model_ends(world, agents, changes):
    origin = world.tcp_origin("o.test", handler=echo)
    for host in HOSTS:
        world.dns.host(host, origin.address)
    network = world.site.network.split(".")
    models, sources = {}, {}
    for number in range(agents):
        name = f"agent-{number}"
        sources[name] = f"127.{network[1]}.{int(network[2])}.{number % 90 + 100}" if (
            number < 90) else f"10.99.{number // 250}.{number % 250}"
        models[name] = Model(random.Random(number).sample(HOSTS, 3))
        world.agents.append({"id": name, "source": [sources[name]],
                             "allow": sorted(models[name].policy)})
    proxy = world.start()
    failures = []

    def operate(index):
        dice = random.Random(index)
        mine = [name for number, name in enumerate(models) if number % CLIENTS == index]
        try:
            control = proxy.control()
            for _ in range(changes):
                name = dice.choice(mine)
                change(control, name, models[name], dice)
        except Exception as error:  # told by the main thread
            failures.append(error)

    done = threading.Event()

    def browse():
        """Traffic of an agent that nobody changes, and of those that are: each is answered."""
        dice = random.Random(99)
        host, port = proxy.listen.rsplit(":", 1)
        try:
            while not done.is_set():
                name = f"agent-{dice.randrange(90)}"
                with Client((host, int(port)), sources[name], 30) as client:
                    answer = client.connect_to(dice.choice(HOSTS), world.port)
                    assert answer.status == 200 or answer.reason in (
                        "host-denied", "host-not-allowed", "offline", "revoked"), answer
        except Exception as error:
            failures.append(error)

    browser = threading.Thread(target=browse)
    operators = [threading.Thread(target=operate, args=(i,)) for i in range(CLIENTS)]
    for thread in [browser, *operators]:
        thread.start()
    for thread in operators:
        thread.join()
    done.set()
    browser.join()
    assert not failures, failures[0]

    with proxy.control() as control:
        for name, model in models.items():
            for host in HOSTS:
                told = control.do("explain", agent=name, host=host, port=world.port)
                expected = model.reason(host)
                assert (told["reason"] if told["verdict"] == "deny" else None) == expected, (
                    name, host, told)
    # One line for each change, and no number is missing.
    lines = proxy.audit.entries()
    made = [line for line in lines if line["event"] in ("grant", "policy")]
    assert len(made) == CLIENTS * changes
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))


def test_many_tunnels_are_cut_and_the_others_go_on(world):
    tunnels = min(300, (os.sysconf("SC_OPEN_MAX") - 200) // 4)
    world.tcp_origin("cut.test", handler=echo)
    world.tcp_origin("kept.test", handler=echo)
    world.agent("alpha", allow=["cut.test", "kept.test"], connections_per_agent=4096)
    proxy = world.start()
    cut = [proxy.open_tunnel("cut.test", world.port) for _ in range(tunnels)]
    kept = [proxy.open_tunnel("kept.test", world.port) for _ in range(20)]
    for client in cut + kept:
        client.recv_exactly(len(client.hello))
    proxy.control().do("revoke", agent="alpha", hosts=["cut.test"])
    assert all(client.is_closed(30) for client in cut)
    until(lambda: len(proxy.audit.entries(event="close", reason="revoked")) == tunnels, 30)
    for client in kept:
        client.send(b"here")
        assert client.recv_exactly(4) == b"here"
    assert not proxy.audit.entries(event="close", host="kept.test")
