"""stile-squid in squid's place: its options, its signals, its files, its exit statuses."""

import fcntl
import os
import pty
import pwd
import re
import select
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

import pytest

from harness.site import Site
from harness.stiled import Stiled, binary
from harness.wait import until
from pair import SQUID, Asked, ask

# Files that squid takes or refuses, and so does Stile.
PARSED = [
    "acl a dstdomain .example.com www.example.com",
    "acl a dstdomain www.example.com .example.com",
    "acl a dstdomain example.com .example.com",
    "acl a dstdomain .www.example.com .example.com",
    "acl a dstdomain",
    "acl a src 10.0.0.5/8 10.0.0.1-10.0.0.9",
    "acl a src 10.0.0.0/33",
    "acl a src 10.0.0.0/255.255.0.0",
    "acl a port 80 443-444",
    "acl a port http",
    "acl a port 500-400",
    "acl a port 70000",
    "acl a foo 80",
    "acl a port 80\nacl a src 10.0.0.1",
    "acl manager proto cache_object",
    "acl a dstdom_regex -i foo +i bar",
    "acl a dstdomain -i foo.com",
    "http_access allow nobody",
    "http_access allow !",
    "foo bar",
    "Http_Port 3128",
    "include /nowhere/*.conf",
    "connect_timeout 1 minute",
    "connect_timeout 10",
    "access_log none",
    "access_log stdio:/tmp/x squid",
    "access_log stdio:/tmp/x nope",
    "http_access allow \\\nall",
    "#!/bin/sh\nhttp_access deny all # behind",
]


@pytest.mark.parametrize("text", PARSED)
def test_parse_ends_as_squid_does(open_folder, text):
    path = open_folder / "squid.conf"
    path.write_text(text + "\nhttp_port 3128\n")
    status = [subprocess.run([program, "-k", "parse", "-f", str(path)], capture_output=True,
                             timeout=60).returncode for program in (SQUID, binary("stile-squid"))]
    assert status[0] == status[1]


def test_parse_takes_the_default_of_debian():
    done = subprocess.run([binary("stile-squid"), "-k", "parse", "-f", "/etc/squid/squid.conf"],
                          capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    assert "nothing is cached" in done.stderr
    assert "ip_literals = allow" in done.stderr


class Front:
    def __init__(self, folder, more="", user="cache_effective_user proxy proxy"):
        self.site, self.folder = Site(), folder
        self.address = (self.site.address(1), self.site.proxy_port)
        self.source = self.site.address(100)
        self.logs = folder / "log"
        self.logs.mkdir()
        self.list = folder / "list"
        self.list.write_text("a.test\n")
        (folder / "hosts").write_text(f"{self.site.address(10)} a.test b.test\n")
        self.pid_file = folder / "squid.pid"
        self.log = self.logs / "access.log"
        as_root = os.geteuid() == 0
        if as_root:
            subprocess.run(["chown", "proxy", str(self.logs)], check=True)
        self.conf = folder / "squid.conf"
        self.conf.write_text(f"""#!/nix/store/bin/sh
acl Agent_Net src {self.source}
acl allowed dstdomain "{self.list}"
http_access allow Agent_Net allowed
http_access deny all
http_port {self.address[0]}:{self.address[1]}
pid_filename {self.pid_file}
cache_log {self.logs}/cache.log
hosts_file {folder}/hosts
shutdown_lifetime 1 seconds
coredump_dir {folder}
{user if as_root else ''}
# stile: private_exceptions = {self.site.address(10)}/32
{more or f'access_log daemon:{self.log} squid'}
""")

    def do(self, *options):
        return subprocess.run([binary("stile-squid"), *options, "-f", str(self.conf)],
                              capture_output=True, text=True, timeout=60,
                              env=Stiled._environment())

    def ask(self, host):
        return ask(self.address, Asked(self.source, "CONNECT", host, 443))

    def pid(self):
        return int(self.pid_file.read_text())

    def ends(self):
        until(lambda: self.do("-k", "check").returncode == 1, 30, "the end of stile-squid")

    def close(self):
        # Whatever a test has left of it.
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if str(self.conf).encode() in process.read_bytes():
                    os.kill(int(process.parent.name), signal.SIGKILL)
            except OSError:
                continue  # it has ended
        self.site.close()


@pytest.fixture
def front(open_folder):
    front = Front(open_folder)
    yield front
    front.close()


def test_runs_in_the_background_until_it_is_told_to_end(front):
    assert front.do("-k", "check").returncode == 1
    assert front.do("-z", "--foreground").returncode == 0
    started = front.do("-YCs")
    assert started.returncode == 0, started.stderr
    assert "what Stile adds" in started.stderr
    assert front.do("-k", "check").returncode == 0
    assert front.do().returncode == 1  # a second one
    assert front.ask("a.test").allowed
    assert front.ask("b.test").reason == "host-not-allowed"
    if os.geteuid() == 0:
        owner = Path(f"/proc/{front.pid()}").stat().st_uid
        status = Path(f"/proc/{front.pid()}/status").read_text()
        assert pwd.getpwuid(owner).pw_name == "proxy" or f"Uid:\t{pwd.getpwnam('proxy').pw_uid}" in status
    assert front.do("-k", "shut").returncode == 0
    front.ends()
    assert front.do("-k", "shutdown").returncode == 1


def test_reads_its_lists_anew_and_keeps_the_old_rules_if_they_are_wrong(front):
    front.do()
    assert not front.ask("b.test").allowed
    front.list.write_text("a.test\nb.test\n")
    done = front.do("-k", "reconfigure")
    assert done.returncode == 0 and "reloaded: generation" in done.stderr
    assert front.ask("b.test").allowed  # at once: -k has waited for it
    front.list.write_text("bad name\n")
    assert front.do("-k", "r").returncode == 1  # refused before a signal is sent
    os.kill(front.pid(), signal.SIGHUP)
    until(lambda: "reload refused" in (front.logs / "cache.log").read_text(), 30, "the refusal")
    assert front.ask("b.test").allowed
    front.list.write_text("a.test\n")
    assert front.do("-k", "interrupt").returncode == 0
    front.ends()


def test_a_domain_that_was_removed_is_refused_also_with_the_user_built_in(open_folder):
    front = Front(open_folder, user="")  # as in Debian's squid.conf
    try:
        assert front.do().returncode == 0
        assert front.ask("a.test").allowed
        front.list.write_text("b.test\n")
        done = front.do("-k", "reconfigure")
        assert done.returncode == 0, done.stderr
        assert front.ask("a.test").reason == "host-not-allowed"
    finally:
        front.close()


def test_reconfigure_says_why_the_daemon_refused(front):
    front.do()
    port = f"{front.address[0]}:{front.address[1]}"
    front.conf.write_text(front.conf.read_text().replace(port, f"{front.address[0]}:1"))
    done = front.do("-k", "reconfigure")
    assert done.returncode == 1
    assert "reload refused" in done.stderr and "http_port: changed, but only a restart" in done.stderr
    assert front.ask("a.test").allowed


def test_a_log_without_a_chain_has_no_head(front):
    front.do()
    assert front.do("-k", "rotate").returncode == 0
    assert front.do("-k", "shutdown").returncode == 0
    front.ends()
    said = (front.logs / "cache.log").read_text()
    assert "audit: reopened\n" in said and "audit: stopped\n" in said


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: a file that only root can read")
def test_reconfigure_says_what_the_daemon_cannot_read(front):
    front.do()
    front.list.chmod(0o600)
    done = front.do("-k", "reconfigure")
    assert done.returncode == 1
    assert str(front.list) in done.stderr


@pytest.fixture
def victim():
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("action", ["check", "reconfigure", "rotate", "shutdown", "interrupt", "kill"])
def test_a_signal_goes_to_no_process_that_a_file_names(front, victim, action):
    front.pid_file.write_text(f"{victim.pid}\n")
    (front.folder / "squid.pid.outcome").touch()
    done = front.do("-k", action)
    assert done.returncode == 1 and "no running copy" in done.stderr
    assert victim.poll() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: who may signal everybody")
def test_root_signals_no_process_of_another_user(front):
    # The daemon's user owns the folder, and has put a file there that a process of root has locked.
    front.pid_file.touch()
    subprocess.run(["chown", "proxy", str(front.pid_file)], check=True)
    with front.pid_file.open("r+") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        done = front.do("-k", "shutdown")  # would end this process
    assert done.returncode == 1 and "does not run as user" in done.stderr


def test_does_not_write_its_process_id_into_another_file(front):
    other = front.folder / "other"
    other.write_text("precious")
    front.pid_file.hardlink_to(other)
    assert front.do().returncode == 1
    assert other.read_text() == "precious"


def test_writes_lines_that_tools_for_squid_read(front):
    front.do()
    front.ask("a.test")
    front.ask("b.test")
    moved = front.log.with_suffix(".0")
    front.log.rename(moved)
    assert front.do("-k", "rotate").returncode == 0
    assert front.log.exists()  # -k has waited for it
    front.ask("b.test")
    until(lambda: front.log.read_text(), 30, "a line in the new log")
    words = [line.split() for line in moved.read_text().splitlines()]
    assert [line[3] for line in words] == ["TCP_TUNNEL/502", "TCP_DENIED/403"]
    assert [line[6:8] for line in words] == [["a.test:443", "agent-net"], ["b.test:443", "all"]]
    assert all(len(line) == 10 and abs(float(line[0]) - time.time()) < 600 for line in words)
    report = subprocess.run(["calamaris", "-a"], stdin=moved.open(), capture_output=True, text=True,
                            timeout=60, check=True).stdout
    assert re.search(r"^invalid lines: +lines +0 *$", report, re.MULTILINE), report
    assert re.search(r"^ TCP_TUNNEL +1 ", report, re.MULTILINE), report
    assert re.search(r"^ TCP_DENIED +1 ", report, re.MULTILINE), report
    screen = squidview(moved)
    assert "agent-ne   t  a.test:443" in screen and "all        d  b.test:443" in screen, screen
    assert front.do("-k", "kill").returncode == 0
    front.ends()


def squidview(log):
    """What it shows of a log: it has no options, only links in the user's home, and wants a terminal."""
    links = log.parent / "home/.squidview"
    links.mkdir(parents=True)
    for name in ("log1", "log2", "log3"):
        (links / name).symlink_to(log)
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    viewer = subprocess.Popen(["squidview"], stdin=its, stdout=its, stderr=its,
                              env={"HOME": str(links.parent), "TERM": "vt100", "PATH": "/usr/bin"})
    os.close(its)
    screen = b""
    try:
        while b"h = help" not in screen and select.select([ours], [], [], 30)[0]:
            screen += os.read(ours, 65536)
    finally:
        viewer.kill()
        viewer.wait()
        os.close(ours)
    return screen.decode("latin-1")


@pytest.mark.parametrize("form, expected", [
    ("combined", '"CONNECT b.test:443 HTTP/1.1" 403 0 "-" "-" TCP_DENIED:HIER_NONE'),
    ("common", '"CONNECT b.test:443 HTTP/1.1" 403 0 TCP_DENIED:HIER_NONE'),
    ("mine", "[CONNECT   ] b.test:443 0403 all"),
])
def test_writes_other_formats(open_folder, form, expected):
    logs = open_folder / "log"
    front = Front(open_folder, f"access_log stdio:{logs}/access.log {form}\n"
                               "logformat mine [%-10rm] %#ru %04>Hs %un")
    try:
        started = front.do()
        assert started.returncode == 0, started.stderr
        front.ask("b.test")
        until(lambda: expected in front.log.read_text(), 30, "the line")
    finally:
        front.close()


def test_does_not_start_with_what_it_does_not_understand(front):
    front.conf.write_text(front.conf.read_text() + "cache_peer 10.0.0.1 parent 3128 0\n")
    for options in ([], ["-N"], ["-z"], ["-k", "parse"], ["-k", "reconfigure"]):
        done = front.do(*options)
        assert done.returncode == 1
        assert f"{front.conf}:" in done.stderr and "cache_peer" in done.stderr


@pytest.mark.parametrize("options, status", [
    (["-v"], 0), (["-h"], 1), (["-k"], 1), (["-k", "nope"], 1), (["--nope"], 1), (["-Q"], 1),
])
def test_ends_as_squid_does(options, status):
    for program in (SQUID, binary("stile-squid")):
        assert subprocess.run([program, *options], capture_output=True, timeout=60).returncode == status
