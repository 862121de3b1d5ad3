"""Upgrades under a real systemd: `systemctl reload` brings the new program into force, and no tunnel notices."""

import json
import shutil

from machine import wait_for
from upgrades import UNIT, host, main_pid, property_of, replace_program, tunnels  # noqa: F401


def reload(machine):
    return machine.run("systemctl", "reload", UNIT, check=False)


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
    left = host.run("pgrep", "-a", "stiled", check=False).stdout
    assert left == "", host.journal(UNIT)
    host.run("systemctl", "start", UNIT)
