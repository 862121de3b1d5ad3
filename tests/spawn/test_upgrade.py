"""Upgrades under a real systemd: `systemctl reload` brings the new program into force, and no tunnel notices."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from harness.hello import hello_for
from machine import wait_for

SCRIPT = Path(__file__).resolve().parent / "tunnels_inside.py"
CARD = {"id": "alpha", "source": ["127.0.0.9"], "allow": ["origin.test"], "private_exceptions": ["127.0.0.2/32"]}
UNIT = "stiled.service"
TUNNELS = 20


def property_of(machine, name):
    return machine.run("systemctl", "show", "--value", f"--property={name}", UNIT).stdout.strip()


def main_pid(machine):
    return int(property_of(machine, "MainPID"))


def replace_program(machine, content=None):
    """As a package manager does: another file under the same name."""
    place = machine.path("/opt/stile/stiled")
    fresh = place.with_suffix(".new")
    shutil.copy(place, fresh)
    if content:
        fresh.write_text(content)
    fresh.rename(place)


def reload(machine):
    return machine.run("systemctl", "reload", UNIT, check=False)


@pytest.fixture(scope="module")
def host(machine):
    shutil.copy(SCRIPT, machine.path("/opt/stile/tunnels_inside.py"))
    with machine.path("/etc/hosts").open("a") as hosts:
        hosts.write("127.0.0.2 origin.test\n")
    machine.path("/etc/stile/agents.d/alpha.json").write_text(json.dumps(CARD))
    machine.run("systemctl", "restart", UNIT)
    return machine


@pytest.fixture
def tunnels(host):
    """Tunnels that run; calling it ends them and checks every byte."""
    command = host.command("python3", "/opt/stile/tunnels_inside.py", hello_for("origin.test").hex(), str(TUNNELS))
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n", host.journal(UNIT)

    def finish():
        said = json.loads(process.communicate(timeout=60)[0])
        assert (said["problems"], said["same"], said["at_origin"]) == ([], TUNNELS, True), (said, host.journal(UNIT))
        return said["bytes"]
    yield finish
    if process.poll() is None:
        process.kill()
        process.wait()


def upgrade(host):
    """Returns the process that serves now; the one before it has ended."""
    before = main_pid(host)
    replace_program(host)
    done = reload(host)
    assert done.returncode == 0, done.stderr + host.journal(UNIT)
    wait_for(lambda: main_pid(host) not in (0, before), "another main process")
    wait_for(lambda: host.run("kill", "-0", str(before), check=False).returncode != 0, "the end of the old process")
    return main_pid(host)


def test_a_new_program_takes_over_and_every_byte_arrives(host, tunnels):
    first = upgrade(host)
    assert upgrade(host) != first
    assert tunnels() > 0
    assert property_of(host, "ActiveState") == "active" and property_of(host, "NRestarts") == "0"
    assert property_of(host, "MainPID") == property_of(host, "ExecMainPID")
    journal = host.journal(UNIT)
    assert "taken over from" in journal and "not our child" not in journal
    host.run("/opt/stile/stile", "audit", "verify", "/var/log/stile/audit.jsonl")


def test_systemd_looks_after_the_new_process(host):
    """It hears its watchdog, and starts another one if it dies."""
    serving = upgrade(host)
    before = int(property_of(host, "WatchdogTimestampMonotonic"))
    wait_for(lambda: int(property_of(host, "WatchdogTimestampMonotonic")) > before, "the watchdog")
    host.run("kill", "-KILL", str(serving))
    wait_for(lambda: main_pid(host) not in (0, serving) and property_of(host, "ActiveState") == "active",
             "another process")
    host.run("/opt/stile/stile", "status")


def test_the_same_program_only_reads_its_config(host, tunnels):
    before = main_pid(host)
    card = host.path("/etc/stile/agents.d/beta.json")
    card.write_text(json.dumps({"id": "beta", "source": ["127.0.0.10"]}))
    assert reload(host).returncode == 0
    assert "beta" in host.run("/opt/stile/stile", "agents").stdout
    card.unlink()
    assert main_pid(host) == before and tunnels() > 0


def test_a_config_with_an_error_is_refused_and_changes_nothing(host, tunnels):
    before, config = main_pid(host), host.path("/etc/stile/stile.toml")
    good = config.read_text()
    for is_new_program in (False, True):
        config.write_text(good + "nonsense = [\n")
        if is_new_program:
            replace_program(host)
        assert reload(host).returncode != 0
        config.write_text(good)
        assert main_pid(host) == before and property_of(host, "ActiveState") == "active"
    assert tunnels() > 0


def test_a_program_that_does_not_start_changes_nothing(host, tunnels):
    good = host.path("/opt/stile/stiled.good")
    shutil.copy(host.path("/opt/stile/stiled"), good)
    before = main_pid(host)
    replace_program(host, "#!/bin/sh\nexit 3\n")
    assert reload(host).returncode != 0
    good.rename(host.path("/opt/stile/stiled"))
    assert main_pid(host) == before and property_of(host, "ActiveState") == "active"
    assert tunnels() > 0


def test_a_process_that_systemd_did_not_start_is_refused(host, tunnels):
    done = host.run("/opt/stile/stiled", "-c", "/etc/stile/stile.toml", "--take-over", check=False)
    assert done.returncode == 1 and "systemctl reload stiled" in done.stderr
    assert tunnels() > 0


def test_a_stop_ends_all_processes(host):
    upgrade(host)
    host.run("systemctl", "stop", UNIT)
    assert host.run("pgrep", "-x", "stiled", check=False).stdout == ""
    host.run("systemctl", "start", UNIT)
