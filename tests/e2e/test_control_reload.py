"""Reload by signal, by request and by a watched directory: all or nothing, and who changed."""

import json
import os
import signal
from pathlib import Path

import pytest
from harness.checks import verdict
from harness.origin import echo
from harness.wait import until


def open_echo(proxy, world, host, agent="alpha"):
    client = proxy.open_tunnel(host, world.port, agent)
    client.recv_exactly(len(client.hello))
    return client


@pytest.fixture
def proxy(world):
    for name in ("a.test", "b.test"):
        world.tcp_origin(name, handler=echo)
    world.agent("alpha", allow=["a.test"])
    world.agent("beta", allow=["a.test", "b.test"])
    return world.start()


def test_reload_tells_what_changed_for_whom(world, proxy):
    world.agents[0]["allow"] = ["b.test", "c.test"]
    proxy.write_config()
    with proxy.control() as control:
        before = control.do("ping")["generation"]
        answer = control.do("reload")
        assert answer["changed"] == [{"agent": "alpha", "added": 2, "removed": 1}]
        assert answer["generation"] == before + 1
        assert control.do("reload")["changed"] == []
    first, second = proxy.audit.entries(event="policy")
    assert first["detail"] == "reload: alpha +2 -1" and "uid" in first["actor"]
    assert second["detail"] == "reload: nothing changed"
    assert verdict(proxy, world, "b.test") is None


def test_reload_closes_what_turned_and_nothing_else(world, proxy):
    gone, stays = open_echo(proxy, world, "a.test"), open_echo(proxy, world, "a.test", "beta")
    world.agents[0]["allow"] = ["b.test"]
    proxy.write_config()
    proxy.control().do("reload")
    assert gone.is_closed(20)
    proxy.audit.wait_one(20, event="close", reason="revoked", agent="alpha")
    stays.send(b"here")
    assert stays.recv_exactly(4) == b"here"


def test_config_with_an_error_changes_nothing(world, proxy):
    proxy.config.write_text(proxy.config.read_text() + "\n[nonsense]\nkey = 1\n")
    with proxy.control() as control:
        error = control.refused("reload")
        assert error["code"] == "config-error" and "nonsense" in error["message"]
    assert verdict(proxy, world, "a.test") is None
    line = proxy.audit.only(event="policy")
    assert line["verdict"] == "deny" and line["detail"] == "config-error"
    assert proxy.metrics().total("stile_policy_reloads_total", result="error") == 1


@pytest.mark.parametrize("key, value", [("workers", 2), ("state_dir", "/elsewhere"),
                                        ("control", "/elsewhere/control.sock"), ("user", "root")])
def test_keys_that_need_a_restart_refuse_the_reload(world, proxy, key, value):
    control = proxy.control()
    world.agents[0]["allow"] = ["b.test"]
    proxy.settings["server"] = {**proxy.settings["server"], key: value}
    proxy.write_config()
    error = control.refused("reload")
    assert error["code"] == "config-error" and f"server.{key}" in error["message"]
    assert verdict(proxy, world, "b.test") == "host-not-allowed"


def test_reloads_of_many_clients_all_get_an_answer(world, proxy):
    clients = [proxy.control() for _ in range(20)]
    for client in clients:
        client.send("reload")
    proxy.signal(signal.SIGHUP)
    assert all(client.read()["ok"] for client in clients)
    assert verdict(proxy, world, "a.test") is None


def test_grants_and_modes_hold_over_a_reload(world, proxy):
    with proxy.control() as control:
        control.do("allow", agent="alpha", hosts=["b.test"])
        control.do("mode", mode="observe", agent="beta")
        world.agents[0]["allow"].append("c.test")
        proxy.write_config()
        control.do("reload")
        assert verdict(proxy, world, "b.test") is None
        assert control.do("agent", agent="beta")["agent"]["mode"] == "observe"


# Cards.

def write_card(folder, agent, source, hosts, **more):
    card = {"agent_id": agent, "source": [source], "allowed_hosts": hosts, **more}
    fresh = folder / f".{agent}.new"
    fresh.write_text(json.dumps(card))
    fresh.rename(folder / f"{agent}.json")


@pytest.fixture
def watched(world):
    for name in ("a.test", "b.test"):
        world.tcp_origin(name, handler=echo)
    folder = Path(world.folder) / "agents.d"
    folder.mkdir()
    for agent in ("gamma", "delta"):
        world.addresses[agent] = world.site.new_agent_address()
    write_card(folder, "gamma", world.addresses["gamma"], ["a.test"])
    return folder, world.start(agents={"directories": [str(folder)], "watch": True})


def test_watched_card_takes_effect_and_touches_nobody_else(world, watched):
    folder, proxy = watched
    tunnel = open_echo(proxy, world, "a.test", "gamma")
    write_card(folder, "delta", world.addresses["delta"], ["b.test"])
    until(lambda: verdict(proxy, world, "b.test", "delta") is None, 30)
    tunnel.send(b"here")
    assert tunnel.recv_exactly(4) == b"here"
    write_card(folder, "gamma", world.addresses["gamma"], ["b.test"])
    assert tunnel.is_closed(30)
    (folder / "delta.json").unlink()
    until(lambda: verdict(proxy, world, "b.test", "delta") == "unknown-agent", 30)


def test_bad_card_refuses_its_agent_and_is_shown(world, watched):
    folder, proxy = watched
    (folder / "bad.json").write_text("{")
    control = proxy.control()
    shown = until(lambda: control.do("status")["rejected_cards"], 30)
    assert shown[0]["file"].endswith("bad.json") and shown[0]["problem"]
    assert proxy.metrics().total("stile_cards_rejected") == 1
    assert verdict(proxy, world, "a.test", "gamma") is None
    (folder / "bad.json").unlink()
    until(lambda: not control.do("status")["rejected_cards"], 30)


def test_reload_tells_of_refused_cards(world, watched):
    folder, proxy = watched
    (folder / "bad.json").write_text('{"agent_id": "bad", "sorce": []}')
    (shown,) = proxy.control().do("reload")["rejected_cards"]
    assert shown["agent"] == "bad" and f"{folder}/bad.json:1:" in shown["problem"]
    assert "sorce" in shown["problem"]
    assert "card refused" in proxy.log_text()


def test_config_map_is_followed_by_its_symlink(world):
    for name in ("a.test", "b.test"):
        world.tcp_origin(name, handler=echo)
    folder = Path(world.folder) / "map"
    world.addresses["gamma"] = world.site.new_agent_address()

    def publish(version, hosts):
        (folder / version).mkdir(parents=True)
        write_card(folder / version, "gamma", world.addresses["gamma"], hosts)
        (folder / "..data_tmp").symlink_to(version)
        os.rename(folder / "..data_tmp", folder / "..data")
    publish("..1", ["a.test"])
    (folder / "gamma.json").symlink_to("..data/gamma.json")
    proxy = world.start(agents={"directories": [str(folder)], "watch": True})
    assert verdict(proxy, world, "a.test", "gamma") is None
    publish("..2", ["b.test"])
    until(lambda: verdict(proxy, world, "b.test", "gamma") is None, 30)
    assert verdict(proxy, world, "a.test", "gamma") == "host-not-allowed"


def test_directory_that_comes_later_is_found(world):
    world.tcp_origin("a.test", handler=echo)
    folder = Path(world.folder) / "later"
    world.addresses["gamma"] = world.site.new_agent_address()
    proxy = world.start(agents={"directories": [str(folder)], "watch": True})
    folder.mkdir()
    write_card(folder, "gamma", world.addresses["gamma"], ["a.test"])
    until(lambda: verdict(proxy, world, "a.test", "gamma") is None, 30)
