"""log and config: what the daemon reads for those who may use its socket, but not open its files."""

import json
import tomllib

import pytest
from harness.checks import verdict
from harness.cli import Operator, environment, stile
from harness.origin import echo


@pytest.fixture
def proxy(world):
    for name in ("a.test", "b.test"):
        world.tcp_origin(name, handler=echo)
    world.agent("alpha", allow=["a.test"], allow_files=["list.txt"])
    world.agent("beta", allow=["b.test"])
    world.write("list.txt", "# more\nlisted.test\n~^r[0-9]\\.test$\n")
    cards = world.folder / "cards"
    cards.mkdir()
    (cards / "gamma.json").write_text(json.dumps(
        {"agent_id": "gamma", "source": ["192.0.2.1"], "allowed_hosts": ["c.test"]}))
    return world.start(agents={"directories": [str(cards)]})


def log_lines(control, **fields):
    path = control.do("log", **fields)["path"]
    lines = []
    while (line := control.read_line()) != b'{"event":"end"}':
        assert line is not None, "closed before the end"
        lines.append(line)
    return path, lines


def test_log_is_the_file_and_the_connection_goes_on(world, proxy):
    for _ in range(3):
        verdict(proxy, world, "a.test")
        verdict(proxy, world, "x.test", "beta")
    with proxy.control() as control:
        path, lines = log_lines(control)
        assert path == proxy.settings["audit"]["path"]
        assert lines == proxy.audit.path.read_bytes().splitlines()[:len(lines)]
        assert len(lines) >= 6
        beta = log_lines(control, agent="beta")[1]
        assert {json.loads(line)["agent"] for line in beta} == {"beta"}
        assert control.do("ping")["generation"] >= 1


def test_log_of_many_pieces_goes_with_back_pressure(world, proxy):
    """More than all buffers hold: the daemon neither keeps it in memory nor stops serving others."""
    path = proxy.audit.path
    proxy.stop()
    line = path.read_bytes().splitlines()[0]
    whole = path.read_bytes()
    path.write_bytes(b"")
    proxy.settings["audit"] = {**proxy.settings["audit"], "format": "squid"}  # takes any old content
    path.write_bytes((line + b"\n") * (48_000_000 // len(line)))
    proxy.start()
    before = proxy.resident_bytes()
    with proxy.control() as slow, proxy.control() as other:
        slow.send("log")
        assert slow.read()["ok"]
        assert other.do("ping")["ok"]  # served while the other one does not read
        assert proxy.resident_bytes() - before < 16_000_000
        count = 0
        while slow.read_line() != b'{"event":"end"}':
            count += 1
    assert count >= 48_000_000 // len(line)
    path.write_bytes(whole)


def test_log_with_rotated_files_is_oldest_first(world, proxy):
    verdict(proxy, world, "first.test")
    path = proxy.audit.path
    path.rename(path.with_name(path.name + ".1"))
    with proxy.control() as control:
        control.do("rotate")
        verdict(proxy, world, "second.test")
        _, lines = log_lines(control, rotated=True)
        hosts = [json.loads(line).get("host") for line in lines]
        assert hosts.index("first.test") < hosts.index("second.test")
        _, current = log_lines(control)
        assert "first.test" not in [json.loads(line).get("host") for line in current]
    proxy.stop()
    old = path.with_name(path.name + ".1")
    path.write_bytes(old.read_bytes() + path.read_bytes())  # for the harness


def test_client_that_leaves_in_the_middle_does_no_harm(world, proxy):
    for _ in range(5):
        with proxy.control() as control:
            control.send("log")
            control.read_line()
    assert proxy.control().do("ping")["ok"]


def test_log_on_standard_output_is_refused_with_what_to_type(world):
    world.agent("alpha")
    proxy = world.start(audit={"path": "-"})
    error = proxy.control().refused("log")
    assert "journalctl" in error["message"]
    proxy.settings["audit"]["format"] = "squid"  # there is no file for the harness to verify


def test_config_is_one_text_that_stands_alone(proxy):
    with proxy.control() as control:
        answer = control.do("config")
    assert answer["file"] == str(proxy.config)
    config = tomllib.loads(answer["text"])
    agents = {agent["id"]: agent for agent in config["agent"]}
    assert agents["alpha"]["allow"] == ["a.test", "listed.test", "~^r[0-9]\\.test$"]
    assert agents["alpha"]["allow_files"] == []
    assert agents["gamma"]["allow"] == ["c.test"]
    assert config["server"]["listen"] == proxy.settings["server"]["listen"]


def test_config_on_disk_is_read_and_not_taken(world, proxy):
    world.agents[0]["allow"] = ["b.test"]
    proxy.write_config()
    with proxy.control() as control:
        before = control.do("ping")["generation"]
        assert '"a.test"' in control.do("config")["text"]
        assert '"a.test"' not in control.do("config", on_disk=True)["text"]
        proxy.config.write_text("[nonsense]\n")
        error = control.refused("config", on_disk=True)
        assert error["code"] == "config-error" and "nonsense" in error["message"]
        assert control.do("ping")["generation"] == before


def test_suggest_takes_the_log_from_the_daemon(world, proxy):
    client = proxy.open_tunnel("a.test", world.port)
    client.recv_exactly(len(client.hello))
    shown = Operator(proxy).does("suggest", "--agent", "alpha")
    assert '"a.test' in shown


def test_suggest_without_a_daemon_says_what_is_missing(tmp_path):
    done = stile("suggest", env=environment(STILE_SOCKET=str(tmp_path / "none.sock")))
    assert done.code == 1 and "--audit FILE" in done.err
