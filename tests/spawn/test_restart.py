"""`systemctl restart` keeps tunnels: the daemon outlives the stop until the new process has taken over. A stop ends
everything, whatever came before it."""

import shutil

import pytest
from machine import wait_for
from upgrades import UNIT, Plain, host, main_pid, property_of, replace_program, tunnels  # noqa: F401

BROKEN = "#!/bin/sh\nexit 3\n"
HANGING = "#!/bin/sh\n[ $1 = --service-stopped ] || exec sleep 60\n"
CONFIG = "/etc/stile/stile.toml"


def restart(host):
    return host.run("systemctl", "restart", UNIT, check=False)


def daemons(host):
    """Without scripts that a test puts in its place, whose name is the same."""
    return host.shell("for number in $(pgrep -x stiled); do readlink /proc/$number/exe | grep -q /stiled && "
                      "echo $number; done", check=False).split()


def has_ended(host, number):
    return host.run("kill", "-0", str(number), check=False).returncode != 0


def assert_serving(host):
    assert (property_of(host, "ActiveState"), property_of(host, "SubState")) == ("active", "running")
    wait_for(lambda: len(daemons(host)) == 1, "the end of the old process")
    host.run("/opt/stile/stile", "status")
    host.run("/opt/stile/stile", "audit", "verify", "/var/log/stile/audit.jsonl")


@pytest.fixture
def good_program(host):
    good = host.path("/opt/stile/stiled.good")
    shutil.copy(host.path("/opt/stile/stiled"), good)

    def restore():
        shutil.copy(good, good.with_suffix(".copy")).rename(host.path("/opt/stile/stiled"))
    yield restore
    restore()


@pytest.mark.parametrize("is_new", [False, True])
def test_a_restart_loses_no_byte(host, tunnels, is_new):
    for _ in range(2):
        before = main_pid(host)
        if is_new:
            replace_program(host)
        assert restart(host).returncode == 0, host.journal(UNIT)
        assert main_pid(host) not in (0, before)
    assert tunnels() > 0
    assert_serving(host)
    assert property_of(host, "NRestarts") == "0"
    assert "taken over from" in host.journal(UNIT)


def test_a_reload_after_a_restart_and_a_restart_after_a_reload(host, tunnels):
    for step in ("restart", "reload", "restart"):
        replace_program(host)
        host.run("systemctl", step, UNIT)
    assert tunnels() > 0
    assert_serving(host)


def test_what_cannot_move_is_served_to_its_end(host):
    with Plain(host) as plain:
        assert restart(host).returncode == 0
        assert len(daemons(host)) == 2
        plain.finish()
    assert_serving(host)


def test_a_stop_ends_everything(host):
    """Also what an earlier process still serves, which gets its time like the rest."""
    with Plain(host) as plain:
        assert restart(host).returncode == 0
        host.run("systemctl", "stop", "--no-block", UNIT)
        wait_for(lambda: "draining" in host.run("/opt/stile/stile", "status", check=False).stdout, "the drain")
        plain.finish()
    wait_for(lambda: property_of(host, "ActiveState") == "inactive", "the stop")
    assert host.run("pgrep", "stiled", check=False).stdout == ""
    host.run("systemctl", "start", UNIT)
    assert_serving(host)


def test_the_watched_process_takes_the_daemon_along(host):
    daemon = daemons(host)
    before = main_pid(host)
    host.run("kill", "-KILL", str(before))
    wait_for(lambda: has_ended(host, daemon[0]), "the end of the daemon")
    wait_for(lambda: main_pid(host) not in (0, before) and property_of(host, "SubState") == "running", "another daemon")
    assert_serving(host)


def test_a_program_that_does_not_start_leaves_the_old_one_serving(host, tunnels, good_program):
    before = daemons(host)
    replace_program(host, BROKEN)
    assert restart(host).returncode != 0
    wait_for(lambda: int(property_of(host, "NRestarts")) >= 2, "two further attempts")
    assert daemons(host) == before
    wait_for(lambda: property_of(host, "SubState") == "auto-restart", "a pause between attempts")
    good_program()
    wait_for(lambda: property_of(host, "SubState") == "running", "the good program")
    assert tunnels() > 0
    assert_serving(host)


def test_a_config_with_an_error_leaves_the_old_one_serving(host, tunnels):
    before, config = daemons(host), host.path(CONFIG)
    good = config.read_text()
    config.write_text(good + "nonsense = [\n")
    assert restart(host).returncode != 0
    wait_for(lambda: int(property_of(host, "NRestarts")) >= 1, "another attempt")
    # For each attempt systemd passes the sockets to a new process. The old one must not block on them.
    for _ in range(3):
        host.run("timeout", "5", "/opt/stile/stile", "status")
    assert set(before) <= set(daemons(host))
    config.write_text(good)
    wait_for(lambda: property_of(host, "SubState") == "running", "the good config")
    assert tunnels() > 0
    assert_serving(host)


def test_a_stop_after_a_failed_restart_ends_everything(host, good_program):
    replace_program(host, BROKEN)
    assert restart(host).returncode != 0
    assert len(daemons(host)) == 1
    host.run("systemctl", "stop", UNIT)
    wait_for(lambda: daemons(host) == [], "the end of the old daemon", 2)
    good_program()
    host.run("systemctl", "start", UNIT)
    assert "systemd has stopped the service" in host.journal(UNIT)
    assert_serving(host)


def test_a_restart_that_is_cancelled_by_a_stop_ends_everything(host, good_program):
    replace_program(host, HANGING)
    host.run("systemctl", "restart", "--no-block", UNIT)
    wait_for(lambda: property_of(host, "SubState") == "start", "the new program")
    assert len(daemons(host)) == 1
    host.run("systemctl", "stop", UNIT)
    wait_for(lambda: daemons(host) == [], "the end of the old daemon", 2)
    good_program()
    host.run("systemctl", "start", UNIT)


@pytest.fixture
def setting(host):
    """Changes one setting of the unit."""
    folder = f"/run/systemd/system/{UNIT}.d"

    def change(line):
        host.shell(f"mkdir -p {folder} && printf '[Service]\\n{line}\\n' >{folder}/test.conf && systemctl daemon-reload")
    yield change
    host.shell(f"rm -r {folder} && systemctl daemon-reload")


def test_a_daemon_that_hangs_is_killed(host, setting):
    setting("TimeoutStopSec=3s")
    daemon, = daemons(host)
    host.run("kill", "-STOP", daemon)
    host.run("systemctl", "restart", UNIT)
    assert has_ended(host, daemon)
    assert_serving(host)


def test_if_systemd_keeps_no_socket_a_restart_is_a_stop(host, setting):
    setting("FileDescriptorStoreMax=0")
    daemon, = daemons(host)
    assert restart(host).returncode == 0
    assert has_ended(host, daemon)
    assert "cannot go on during the restart: systemd does not keep a socket" in host.journal(UNIT)
    assert_serving(host)


def test_if_systemd_makes_sockets_blocking_a_restart_is_a_stop(host, setting):
    setting("NonBlocking=no")
    host.run("systemctl", "stop", UNIT)
    host.run("systemctl", "start", UNIT)
    daemon, = daemons(host)
    assert restart(host).returncode == 0
    assert has_ended(host, daemon)
    assert "cannot go on during the restart: the unit needs NonBlocking=yes" in host.journal(UNIT)
    assert_serving(host)


def test_without_the_bus_a_restart_is_a_stop(host):
    daemon, = daemons(host)
    host.shell("systemctl stop dbus.socket dbus.service")
    assert restart(host).returncode == 0
    assert has_ended(host, daemon)
    host.shell("systemctl start dbus.socket dbus.service")
    assert_serving(host)


def test_another_log_means_a_drain_and_a_start(host):
    config = host.path(CONFIG)
    good = config.read_text()
    config.write_text(good.replace("audit.jsonl", "other.jsonl"))
    assert host.run("systemctl", "reload", UNIT, check=False).returncode != 0
    daemon, = daemons(host)
    assert restart(host).returncode == 0, host.journal(UNIT)
    assert has_ended(host, daemon)
    assert "waiting until that one has drained" in host.journal(UNIT)
    host.path("/var/log/stile/audit.jsonl").rename(host.path("/var/log/stile/first.jsonl"))
    config.write_text(good)
    assert restart(host).returncode == 0
    assert_serving(host)
    host.shell("cd /var/log/stile && /opt/stile/stile audit verify first.jsonl other.jsonl audit.jsonl")


@pytest.mark.parametrize("step", ["stop", "crash", "crash and stop"])
def test_a_process_that_nobody_watches_is_ended(host, step):
    """As if systemd had lost track of a daemon."""
    lost = host.shell("setpriv --reuid=stile --regid=stile --clear-groups sleep 1000 >/dev/null 2>&1 & echo $!").strip()
    host.shell(f"echo {lost} >$(find /sys/fs/cgroup -path '*/{UNIT}/cgroup.procs' -print -quit)")
    assert lost in host.run("systemctl", "status", UNIT).stdout
    if step == "stop":
        host.run("systemctl", "stop", UNIT)
        assert has_ended(host, lost)
        host.run("systemctl", "start", UNIT)
    else:
        before = main_pid(host)
        host.run("kill", "-KILL", str(before))
        wait_for(lambda: main_pid(host) != before, "systemd to notice")
        if step == "crash and stop":
            host.run("systemctl", "stop", UNIT)
        wait_for(lambda: has_ended(host, lost), "its end", 10)
        host.run("systemctl", "start", UNIT)
        assert_serving(host)
