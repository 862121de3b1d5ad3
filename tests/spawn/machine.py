"""A small system under a real systemd: this machine's /usr, read-only, with an /etc of its own.

systemd-nspawn boots it in its own network, PID and mount namespaces, so that units, the spawner, the fence and
the daemon run as on a host, and nothing outside is touched. The programs are those of the build.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from harness.stiled import build_folder

SOURCE = Path(__file__).resolve().parents[2]
PROGRAMS = ("stiled", "stile", "stile-netns", "stile-spawner", "stile-web")
SPAWNER_SOCKET = "/run/agent-spawner/spawner.sock"
LINKS = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"}
ENVIRONMENT = ["/usr/bin/env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
               "HOME=/root", "LC_ALL=C.UTF-8"]
STILE_TOML = """\
[server]
listen = ["127.0.0.1:3128", "10.200.0.1:3128"]
[audit]
path = "/var/log/stile/audit.jsonl"
[agents]
watch = true
"""
# Of the host's services only these are started; what a container does not need would only take time.
MASKED = ("systemd-logind.service", "systemd-networkd.service", "systemd-resolved.service", "getty.target",
          "console-getty.service", "systemd-udevd.service", "systemd-udev-trigger.service",
          "systemd-ask-password-wall.path", "systemd-update-utmp.service", "systemd-timesyncd.service",
          "remote-fs.target", "timers.target", "e2scrub_reap.service", "systemd-pstore.service",
          "systemd-machine-id-commit.service", "ldconfig.service", "systemd-hwdb-update.service",
          "systemd-journal-catalog-update.service", "systemd-update-done.service")


def wait_for(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while True:
        if value := condition():
            return value
        assert time.monotonic() < end, f"not in time: {what}"
        time.sleep(0.05)


def make_control_groups(name):
    """Control groups for one machine: machines in the same one would remove each other's units' groups."""
    groups = []
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        tops = {"name=systemd": ["systemd"], "": ["unified", "."]}.get(controllers, [])
        for top in (Path("/sys/fs/cgroup") / one for one in tops):
            if (top / "cgroup.procs").exists():
                group = top / path.lstrip("/") / name
                try:
                    group.mkdir()
                    groups.append(group)
                except OSError:
                    pass  # not delegated to us: then one machine at a time has to do
                break
    return groups


def remove_control_groups(groups):
    for group in groups:
        for folder, _, _ in os.walk(group, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                pass


class Machine:
    def __init__(self, folder, spawner_toml, group_version=None):
        """`group_version`: of its control groups, 2 as in Debian 12; by default that of this host."""
        self.root = Path(folder) / "root"
        self.console = Path(folder) / "console.log"
        self._init = None
        self._make_root(spawner_toml)
        self._groups = make_control_groups(f"stile-test-{os.getpid()}")
        command = ["systemd-nspawn", "--quiet", "--boot", f"--directory={self.root}", "--private-network",
                   f"--machine=stile-{os.getpid()}", "--register=no", "--keep-unit", "--console=pipe", "--bind-ro=/usr", "--resolv-conf=off",
                   "--timezone=off", "--link-journal=no"]
        env = {**os.environ, **({"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"} if group_version == 2 else {})}
        self._process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=self.console.open("w"),
                                         stderr=subprocess.STDOUT, preexec_fn=self._enter_groups)
        try:
            wait_for(self._find_init, "the init of the machine")
            wait_for(self._is_up, f"the machine is up; see {self.console}")
        except BaseException:
            self.close()
            raise

    def _make_root(self, spawner_toml):
        root = self.root
        for name in ("etc/systemd/system", "etc/stile/agents.d", "var/log", "var/lib", "var/tmp", "run", "tmp", "usr",
                     "proc", "sys", "dev", "root", "mnt", "home", "srv", "opt/stile"):
            (root / name).mkdir(parents=True, exist_ok=True)
        for name, target in LINKS.items():
            (root / name).symlink_to(target)
        (root / "var/run").symlink_to("../run")
        for name in ("passwd", "group", "nsswitch.conf", "ld.so.cache", "ssl", "alternatives"):
            place = Path("/etc") / name
            if place.is_dir():
                shutil.copytree(place, root / "etc" / name, symlinks=True)
            elif place.exists():
                shutil.copy(place, root / "etc" / name)
        (root / "etc/machine-id").write_text("")
        shutil.copy("/etc/os-release", root / "etc/os-release")
        (root / "etc/hosts").write_text("127.0.0.1 localhost\n")
        (root / "etc/resolv.conf").write_text("")
        (root / "etc/stile/stile.toml").write_text(STILE_TOML)
        (root / "etc/stile/spawner.toml").write_text(spawner_toml)
        units = root / "etc/systemd/system"
        for name in MASKED:
            (units / name).symlink_to("/dev/null")
        (units / "default.target").symlink_to("/usr/lib/systemd/system/multi-user.target")
        for program in PROGRAMS:
            shutil.copy(build_folder() / "cmd" / program, root / "opt/stile" / program)
        for unit in (SOURCE / "systemd").glob("*.*"):
            if unit.is_file():
                text = unit.read_text().replace("/usr/sbin/", "/opt/stile/").replace("/usr/bin/stile", "/opt/stile/stile")
                (units / unit.name).write_text(text)
        for kind in ("sysusers.d", "tmpfiles.d"):
            shutil.copytree(SOURCE / "systemd" / kind, root / "etc" / kind)
        for wanted_by, names in {"multi-user.target": ["stiled.service", "stile-fence.service"],
                                 "sockets.target": ["stiled.socket", "stile-spawner.socket"]}.items():
            (units / f"{wanted_by}.wants").mkdir()
            for name in names:
                (units / f"{wanted_by}.wants" / name).symlink_to(f"../{name}")
        for kind in ("service", "socket"):
            (units / f"agent-spawner.{kind}").symlink_to(f"stile-spawner.{kind}")
        subprocess.run(["systemd-sysusers", f"--root={root}"], check=True, capture_output=True)

    def _enter_groups(self):
        for group in self._groups:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    def _find_init(self):
        assert self._process.poll() is None, self.console.read_text()
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        self._init = int(children[0]) if children else None
        return self._init

    def _is_up(self):
        self._find_init()  # the first child may be one that only sets up the others
        state = self.run("systemctl", "is-system-running", check=False).stdout.strip()
        return state in ("running", "degraded") and self._init

    @property
    def init(self):
        """The process id of its PID 1, outside."""
        return self._init

    def command(self, *words):
        return ["nsenter", "-t", str(self._init), "-a", "--", *ENVIRONMENT, *words]

    def run(self, *words, check=True, **more):
        """Runs a command inside, as root."""
        done = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=120, **more)
        assert not check or done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done

    def shell(self, script, check=True):
        return self.run("bash", "-c", script, check=check).stdout

    def journal(self, unit):
        return self.run("journalctl", "--no-pager", "-o", "cat", "-u", unit, check=False).stdout

    def is_active(self, unit):
        return self.run("systemctl", "is-active", unit, check=False).stdout.strip() in ("active", "activating")

    def ask(self, request, user=None):
        """One request to the spawner, and its answer."""
        text = request if isinstance(request, str) else json.dumps(request) + "\n"
        words = ["socat", "-t", "90", "-", f"UNIX-CONNECT:{SPAWNER_SOCKET}"]
        if user:
            words = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", *words]
        done = self.run(*words, input=text, check=False)
        return json.loads(done.stdout) if done.stdout else {"error": done.stderr.strip(), "refused": True}

    def path(self, inside):
        return self.root / inside.lstrip("/")

    def close(self):
        if self._process.poll() is None and self._init:
            os.kill(self._init, signal.SIGRTMIN + 4)  # power off
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                pass
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        remove_control_groups(self._groups)
