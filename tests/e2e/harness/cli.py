"""stile: the command under test, run as a person or a script would run it."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .stiled import REPOSITORY, SANITIZER_WORDS, binary


@dataclass
class StileRun:
    code: int
    out: str
    err: str


# What a line behind `next:` or `undo:` begins with.
PROGRAMS = {"stile", "stiled", "stile-netns", "sudo", "systemctl", "journalctl", "timedatectl", "df", "ls", "cat",
            "chmod", "ip", "jq"}


def assert_pastable(text):
    """Every line that says what to type next can be typed as it stands."""
    for command in re.findall(r"^ *(?:next|undo|see): (.*)$", text, re.M):
        read = subprocess.run(["bash", "-n", "-c", command], capture_output=True, text=True, check=False)
        assert read.returncode == 0 and not read.stderr, (command, read.stderr)
        assert command.split()[0] in PROGRAMS and "\u2026".encode().decode("latin-1") not in command, command


def environment(**changes):
    """Of a person's shell, without what would steer `stile` by chance."""
    kept = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8",
            "STILE_CAPABILITIES": str(REPOSITORY / "capabilities"),
            "HOME": "/nonexistent", "ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "exitcode=98"}
    return {**kept, **changes}


def without_daemon():
    """What a command is run with if it must find no daemon: its directories on this host look empty."""
    places = [place for place in ("/etc/stile", "/run/stile") if os.path.isdir(place)]
    if not places:
        return []
    mounts = "".join(f"mount -t tmpfs -o mode=755 tmpfs {place} && " for place in places)
    return ["unshare", "--mount", *(["--map-root-user"] if os.geteuid() != 0 else []),
            "sh", "-c", mounts + 'exec "$@"', "sh"]


def stile(*arguments, seconds=30, data="", env=None, cwd=None):
    env = env or environment()
    names_socket = "STILE_SOCKET" in env or "--socket" in arguments
    wrapper = [] if names_socket else without_daemon()
    done = subprocess.run([*wrapper, binary("stile"), *map(str, arguments)], input=data.encode(),
                          capture_output=True, env=env, cwd=cwd, timeout=seconds,
                          check=False)
    run = StileRun(done.returncode, done.stdout.decode("latin-1"), done.stderr.decode("latin-1"))
    assert not [word for word in SANITIZER_WORDS if word in run.err], run.err
    assert_pastable(run.out + run.err)
    return run


def stile_as_nobody(folder, *arguments):
    """The command run by a user without rights, who may not even see the build: it is copied."""
    folder = Path(folder)
    folder.chmod(0o755)
    program = shutil.copy(binary("stile"), folder / "stile")
    done = subprocess.run([program, *map(str, arguments)], user=65534, group=65534, extra_groups=[],
                          env=environment(), cwd=folder, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=30, check=False)
    return StileRun(done.returncode, done.stdout, done.stderr)


class Operator:
    """Somebody who types `stile` commands at the daemon under test."""

    def __init__(self, proxy):
        self.socket = proxy.settings["server"]["control"]
        self.env = environment(STILE_SOCKET=self.socket)

    def __call__(self, *arguments, **options):
        return stile(*arguments, env=self.env, **options)

    def does(self, *arguments):
        """What a command that has to succeed prints."""
        done = self(*arguments)
        assert done.code == 0, (arguments, done)
        return done.out

    def start(self, *arguments, **options):
        return subprocess.Popen([binary("stile"), *map(str, arguments)], env=self.env, text=True,
                                stdin=subprocess.DEVNULL, **options)
