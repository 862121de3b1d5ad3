"""The files for systemd: it reads them, and they say what the code does."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from lab.host import BUILD, PATIENCE_SECONDS, PYTHON, ROOT, wait_until

SYSTEMD = ROOT / "systemd"
CONFINED = Path(__file__).parent / "lab" / "confined.py"


@pytest.fixture
def image(tmp_path):
    """A root directory with our units, and what they start."""
    folder = tmp_path / "lib/systemd/system"
    folder.mkdir(parents=True)
    shutil.copytree("/lib/systemd/system", folder, dirs_exist_ok=True, symlinks=True)
    for unit in [*SYSTEMD.glob("*.service"), *SYSTEMD.glob("*.socket")]:
        shutil.copy(unit, folder)
    for program in ("sbin/stile-netns", "sbin/stiled", "sbin/stile-spawner", "bin/kill"):
        path = tmp_path / "usr" / program
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("unit", ["stiled.service", "stiled.socket", "stiled-capture.socket", "stile-fence.service",
                                  "stile-agent@alpha.service", "stile-spawner.service", "stile-spawner.socket"])
def test_systemd_finds_nothing_wrong(image, unit):
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", f"--root={image}", unit],
                          capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("unit, most", [("stiled.service", 1.5), ("stile-fence.service", 2.5),
                                        ("stile-spawner.service", 2.5)])
def test_services_are_hardened(image, unit, most):
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", f"--root={image}", unit],
                          capture_output=True, text=True, check=True)
    exposure = float(re.search(r"Overall exposure level[^:]*: ([0-9.]+)", done.stdout)[1])
    assert exposure <= most, done.stdout


def test_control_socket_is_for_the_admins_and_named_as_the_daemon_expects_it():
    text = (SYSTEMD / "stiled.socket").read_text()
    for line in ("ListenStream=/run/stile/control.sock", "FileDescriptorName=control", "SocketGroup=stile-admin",
                 "SocketMode=0660"):
        assert line in text.splitlines()


def test_sockets_of_captured_traffic_are_those_of_the_default_config():
    lines = (SYSTEMD / "stiled-capture.socket").read_text().splitlines()
    for line in ("ListenDatagram=10.200.0.1:53", "ListenStream=10.200.0.1:3129", "FileDescriptorName=capture",
                 "Transparent=yes", "FreeBind=yes", "Service=stiled.service"):
        assert line in lines


CONFIG = """
[server]
control = "/var/lib/stile/control.sock"
control_group = ""
[audit]
path = "/var/log/stile/audit.jsonl"
"""


def test_daemon_works_with_the_system_calls_that_its_unit_leaves(host):
    """As a user without capabilities: it gets ready, answers, reloads, rotates and ends in good order."""
    host.run("sh", "-c", "useradd -r -M -U stile-test; install -d -o stile-test -m 750 /var/lib/stile /var/log/stile")
    host.write("/etc/stile/stile.toml", CONFIG)
    listen = ("import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1])\n"
              "import os; os.chmod(sys.argv[1], 0o777); print('bound', flush=True)\n"
              "while True: print(s.recv(999).decode().replace(chr(10), ' '), flush=True)")
    systemd = host.popen(PYTHON, "-c", listen, "/run/notify", stdout=subprocess.PIPE, text=True)
    assert systemd.stdout.readline() == "bound\n"

    def wait_for(word):
        while word not in systemd.stdout.readline():
            pass
    # The leak sanitizer wants to trace, which the unit does not let anybody do.
    daemon = host.popen(PYTHON, CONFINED, SYSTEMD / "stiled.service", "stile-test", BUILD / "cmd" / "stiled", "-c",
                        "/etc/stile/stile.toml",
                        env={**os.environ, "NOTIFY_SOCKET": "/run/notify", "ASAN_OPTIONS": "detect_leaks=0"})
    wait_for("READY=1")
    assert host.run("curl", "-sS", "--noproxy", "*", "http://127.0.0.1:9128/readyz").stdout
    refused = host.run("curl", "-sS", "--noproxy", "", "-x", "http://127.0.0.1:3128", "http://a.example/", check=False)
    assert "unknown-agent" in refused.stdout
    daemon.send_signal(signal.SIGHUP)
    wait_for("RELOADING=1")
    wait_for("READY=1")
    host.run("mv", "/var/log/stile/audit.jsonl", "/var/log/stile/audit.1.jsonl")
    daemon.send_signal(signal.SIGUSR1)
    wait_until(lambda: host.exists("/var/log/stile/audit.jsonl"), "a new audit log")
    daemon.send_signal(signal.SIGTERM)
    assert daemon.wait(timeout=PATIENCE_SECONDS) == 0
    assert "unknown-agent" in host.read("/var/log/stile/audit.1.jsonl")


def test_an_agents_output_does_not_choose_its_level_in_the_journal():
    assert "SyslogLevelPrefix=no" in (SYSTEMD / "stile-agent@.service").read_text().splitlines()


@pytest.fixture
def logrotate(host):
    """Rotates as the package's file says, on a host without systemd."""
    host.run("sh", "-c", "useradd -r -M -U stile; install -d -o stile -g stile -m 750 /var/lib/stile /var/log/stile")
    text = (SYSTEMD / "logrotate.d/stile").read_text()
    host.write("/etc/logrotate-stile", text.replace("/usr/bin/stile", f"{BUILD}/cmd/stile"))

    def rotate(check):
        return host.run("logrotate", "--force", "--state", "/run/logrotate.state", "/etc/logrotate-stile", check=check)
    return rotate


def test_logrotate_moves_the_daemon_to_the_new_file(host, logrotate):
    host.write("/etc/stile/stile.toml", '[server]\nuser = "stile"\ncontrol_group = ""\n'
               '[audit]\npath = "/var/log/stile/audit.jsonl"\n')
    daemon = host.popen(BUILD / "cmd" / "stiled", "-c", "/etc/stile/stile.toml")
    wait_until(lambda: host.run("curl", "-sS", "--noproxy", "*", "http://127.0.0.1:9128/readyz", check=False).stdout,
               "the daemon")
    logrotate(check=True)
    host.run("curl", "-sS", "--noproxy", "", "-x", "http://127.0.0.1:3128", "http://a.example/", check=False)
    old, new = sorted(host.run("ls", "/var/log/stile").stdout.split(), key=len, reverse=True)
    assert new == "audit.jsonl" and re.fullmatch(r"audit\.jsonl-\d{8}", old)
    assert "unknown-agent" in host.read("/var/log/stile/audit.jsonl")
    assert "unknown-agent" not in host.read(f"/var/log/stile/{old}")
    daemon.terminate()
    assert daemon.wait(timeout=PATIENCE_SECONDS) == 0


def test_logrotate_reports_that_no_daemon_took_the_new_file(host, logrotate):
    host.run("sh", "-c", "echo line > /var/log/stile/audit.jsonl; chown stile:stile /var/log/stile/audit.jsonl")
    done = logrotate(check=False)
    assert done.returncode == 1 and "postrotate" in done.stderr
    left = host.run("ls", "/var/log/stile").stdout.split()
    assert len(left) == 1 and re.fullmatch(r"audit\.jsonl-\d{8}", left[0])


def test_directories_belong_to_root_where_root_reads(image):
    text = (SYSTEMD / "tmpfiles.d/stile.conf").read_text()
    rows = {line.split()[1]: line.split()[2:5] for line in text.splitlines() if line.startswith("d ")}
    assert rows["/run/stile"] == ["0755", "root", "root"]
    assert rows["/run/stile/agents.d"] == ["0750", "root", "stile"]
    assert rows["/run/stile/netns"] == ["0700", "root", "root"]


def test_users_and_directories_can_be_made(tmp_path):
    for name in ("etc", "run"):
        (tmp_path / name).mkdir()
    subprocess.run(["systemd-sysusers", f"--root={tmp_path}", SYSTEMD / "sysusers.d/stile.conf"], check=True)
    assert "stile-admin:" in (tmp_path / "etc/group").read_text()
    (tmp_path / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\n" + (tmp_path / "etc/passwd").read_text())
    (tmp_path / "etc/group").write_text("root:x:0:\n" + (tmp_path / "etc/group").read_text())
    subprocess.run(["systemd-tmpfiles", "--create", f"--root={tmp_path}", SYSTEMD / "tmpfiles.d/stile.conf"], check=True)
    assert (tmp_path / "run/stile/agents.d").stat().st_mode & 0o777 == 0o750


def test_sysctls_are_those_that_the_tool_sets():
    source = (ROOT / "netns/sysctl.cc").read_text()
    table = source[source.index("shut{{"):source.index("}};")]
    in_code = set(re.findall(r'\{"(ipv[46])", "(\w+)", "(\d)"\}', table))
    text = (SYSTEMD / "sysctl.d/60-stile.conf").read_text()
    in_file = set(re.findall(r"^net\.(ipv[46])\.conf\.stile-\*\.(\w+) = (\d)$", text, re.MULTILINE))
    assert in_file == in_code and len(in_code) > 8
