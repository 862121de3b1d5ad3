"""A network and mount namespace that plays the host, so that the machine's own stays untouched."""

import json
import os
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("STILE_BUILD", ROOT / "build" / "dev")).resolve()
TOOL = BUILD / "cmd" / "stile-netns"
PYTHON = "/usr/bin/python3"
IS_SANITIZED = BUILD.name in ("asan", "tsan")  # several times slower
PATIENCE_SECONDS = 30  # for what takes milliseconds on an idle machine

# Everything that stile-netns writes to is in memory and private to these namespaces. /etc and /var
# are copies that can be written without the machine's noticing; /tmp is empty but for this tree, if
# it lies there.
SET_UP = """
set -e
mount -t tmpfs tmpfs /run
for place in etc var; do
  mkdir -p /run/.$place/upper /run/.$place/work
  mount -t overlay overlay -o lowerdir=/$place,upperdir=/run/.$place/upper,workdir=/run/.$place/work /$place
done
mountpoint -q /etc && mountpoint -q /var && rm -rf /etc/stile /var/lib/stile /var/log/stile  # in the copies
mkdir /run/.tree
mount --bind "$tree" /run/.tree
mount -t tmpfs tmpfs /tmp
chmod 1777 /tmp
case $tree in /tmp/*) mkdir -p "$tree" && mount --move /run/.tree "$tree" ;; *) umount /run/.tree ;; esac
chmod 755 /run
ip link set lo up
echo ready
exec setpriv --pdeathsig KILL sleep infinity
"""


def wait_until(condition, what):
    """Asks again until it is true; returns what was true."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not (found := condition()):
        assert time.monotonic() < end, f"not within {PATIENCE_SECONDS} s: {what}"
        time.sleep(0.02)
    return found


class Namespace:
    """A process that holds namespaces; commands are run in them by nsenter."""

    def __init__(self, flags, script):
        self.process = subprocess.Popen(
            ["unshare", *flags, "bash", "-c", script], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
            env=os.environ | {"tree": str(ROOT)})
        if self.process.stdout.readline() != b"ready\n":
            raise RuntimeError("the namespace could not be set up")
        self.children = []

    def enter(self):
        return ["nsenter", "-t", str(self.process.pid), "-n", "-m", "--"]

    def popen(self, *command, **options):
        child = subprocess.Popen([*self.enter(), *map(str, command)], **options)
        self.children.append(child)
        return child

    def run(self, *command, check=True, timeout=120, **options):
        options.setdefault("capture_output", True)
        done = subprocess.run([*self.enter(), *map(str, command)], text=True, timeout=timeout, **options)
        if check and done.returncode != 0:
            raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return done

    def close(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
                child.wait()
        self.process.kill()
        self.process.wait()


class Host(Namespace):
    def __init__(self):
        super().__init__(["--net", "--mount", "--propagation", "private"], SET_UP)
        self.config = None

    def tool(self, *arguments, check=True, **options):
        config = ["-c", self.config] if self.config else []
        return self.run(TOOL, *config, *arguments, check=check, **options)

    def start_tool(self, *arguments, **options):
        return self.popen(TOOL, *arguments, **options)

    def start_watch(self):
        """Returns when the fence stands: systemd is told so, and here we are systemd."""
        place = f"/run/notify-{os.urandom(4).hex()}"
        listen = ("import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1]); "
                  "print('bound', flush=True); print(s.recv(99).decode(), flush=True)")
        systemd = self.popen(PYTHON, "-c", listen, place, stdout=subprocess.PIPE, text=True)
        assert systemd.stdout.readline() == "bound\n"
        process = self.start_tool("watch", stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, "NOTIFY_SOCKET": place})
        assert systemd.stdout.readline() == "READY=1\n"
        return process

    def fence_is_whole(self, *arguments):
        """What `check` says of the fence, whether or not there is a daemon behind it."""
        rows = json.loads(self.tool("check", *arguments, "--json", check=False).stdout)["rows"]
        return all(row["ok"] for row in rows if row["probe"] != "daemon")

    def create(self, agent, *arguments):
        return json.loads(self.tool("create", agent, *arguments, "--json").stdout)

    def agents(self):
        return {one["agent"]: one for one in json.loads(self.tool("list", "--json").stdout)}

    def inside(self, agent, code, *arguments, check=True, **options):
        """Runs Python as root of the agent's namespaces."""
        library = (Path(__file__).parent / "inside.py").read_text()
        return self.tool("exec", agent, "--", PYTHON, "-I", "-", *map(str, arguments), check=check,
                         input=library + "\n" + code, **options)

    def inside_as_host_root(self, agent, code, **options):
        """The same in the network namespace alone: `exec` refuses to run without a fence."""
        library = (Path(__file__).parent / "inside.py").read_text()
        return self.run("ip", "netns", "exec", f"agent-{agent}", PYTHON, "-I", "-",
                        input=library + "\n" + code, **options)

    def shell(self, agent, script, check=True, **options):
        return self.tool("exec", agent, "--", "sh", "-c", script, check=check, **options)

    def write(self, path, text, mode=0o644):
        self.run("mkdir", "-p", os.path.dirname(path))
        self.run("sh", "-c", f"cat > {path} && chmod {mode:o} {path}", input=text)

    def read(self, path):
        return self.run("cat", path).stdout

    def exists(self, path):
        return self.run("test", "-e", path, check=False).returncode == 0

    def nft(self, commands):
        return self.run("nft", "-f", "-", input=commands)

    def ruleset(self):
        return self.run("nft", "list", "ruleset").stdout

    def sysctl(self, name, value=None):
        path = "/proc/sys/" + name.replace(".", "/")
        if value is None:
            return self.read(path).strip()
        return self.run("sh", "-c", f"echo {value} > {path}")

    def device(self, agent):
        return self.agents()[agent]["device"]

    def leftovers(self):
        """What is there of any agent: nothing, when all are deleted."""
        found = self.run("sh", "-c", "mkdir -p /run/netns; ls /run/netns /run/stile/agents.d /run/stile/netns").stdout.split()
        found = [word for word in found if not word.endswith(":")]
        links = self.run("ip", "-o", "link").stdout
        found += [line.split(":")[1].strip() for line in links.splitlines() if "stile-" in line]
        routes = self.run("ip", "route").stdout
        found += [line for line in routes.splitlines() if "stile-" in line]
        found += [line.strip() for line in self.ruleset().splitlines() if "elements" in line]
        return found
