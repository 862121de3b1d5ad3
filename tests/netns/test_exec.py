"""exec: who the command is, what it sees, and that it cannot get back to the host."""

import os
import pty
import signal
import subprocess

import pytest

from lab.host import PATIENCE_SECONDS, PYTHON, TOOL, Host


@pytest.fixture(scope="module")
def place():
    host = Host()
    host.create("alpha")
    host.create("beta")
    yield host
    host.close()


def status(host, *command, **options):
    return host.tool("exec", "alpha", "--", *command, check=False, **options).returncode


def test_exit_status_is_that_of_the_command_or_says_why_there_is_none(place):
    assert status(place, "true") == 0
    assert status(place, "sh", "-c", "exit 7") == 7
    assert status(place, "sh", "-c", "kill -TERM $$") == 128 + 15
    assert status(place, "sh", "-c", "kill -KILL $$") == 128 + 9
    assert status(place, "/etc/passwd") == 126
    assert status(place, "no-such-command") == 127
    assert place.tool("exec", "nobody", "--", "true", check=False).returncode == 125
    assert place.tool("exec", "alpha", check=False).returncode == 125


def test_is_refused_when_the_fence_is_not_whole(host):
    host.create("alpha")
    device = host.device("alpha")
    for damage in (["nft", "flush", "ruleset"], ["nft", "flush", "chain", "inet", "stile", "arriving"],
                   ["nft", "flush", "set", "inet", "stile", "refused"],
                   ["sh", "-c", f"echo 1 > /proc/sys/net/ipv4/conf/{device}/forwarding"],
                   ["ip", "addr", "del", "10.200.0.1/32", "dev", "lo"]):
        host.run(*damage)
        done = host.tool("exec", "alpha", "--", "echo", "ran", check=False)
        assert done.returncode == 125 and "not whole" in done.stderr and done.stdout == "", damage
        host.tool("repair")
    assert host.tool("exec", "alpha", "--", "echo", "ran").stdout == "ran\n"


def test_signals_reach_the_command(place):
    for number, name in ((signal.SIGTERM, "TERM"), (signal.SIGINT, "INT"), (signal.SIGHUP, "HUP"),
                         (signal.SIGUSR1, "USR1")):
        # A shell cannot trap what was ignored when it started, and nohup ignores SIGHUP.
        process = place.popen("env", f"--default-signal={name}", TOOL, "exec", "alpha", "--", "sh", "-c",
                              f"trap 'echo got {name}; exit 3' {name}; echo ready; while :; do sleep 0.01; done",
                              stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.communicate(timeout=PATIENCE_SECONDS)[0] == f"got {name}\n"
        assert process.returncode == 3


def unmistakable():
    """A number of seconds that nobody else on this machine sleeps for."""
    return f"3{int.from_bytes(os.urandom(6), 'big')}"


def test_everything_left_inside_ends_with_the_command(place):
    seconds = unmistakable()
    place.shell("alpha", f"setsid sleep {seconds} & sleep {seconds} & exit 0")
    assert f"sleep {seconds}" not in place.run("ps", "ax", "-o", "args").stdout


def test_everything_ends_when_exec_itself_is_killed(place):
    seconds = unmistakable()
    process = place.start_tool("exec", "alpha", "--", "sh", "-c", f"echo ready; exec sleep {seconds}",
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.kill()
    process.wait()
    assert process.stdout.read() == ""  # the last holder of the pipe is gone
    assert f"sleep {seconds}" not in place.run("ps", "ax", "-o", "args").stdout


def test_is_root_inside_with_all_capabilities_and_none_outside(place):
    seen = place.inside("alpha", """
status = dict(line.split(":\\t") for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
print(os.getuid(), os.getgid(), os.getgroups(), status["NoNewPrivs"], int(status["CapEff"], 16) >> 12 & 1)
print(open("/proc/self/uid_map").read().split())
try:
    os.mkdir("/etc/escape")
except OSError as problem:
    print(problem.errno in (errno.EACCES, errno.EROFS))
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
except OSError as problem:
    print(problem.errno == errno.EPERM)
""").stdout.splitlines()
    uid = str(place.agents()["alpha"]["uid"])
    assert seen[0] == "0 0 [0] 1 1" or seen[0] == "0 0 [] 1 1"
    assert seen[1] == str(["0", uid, "2047", "65534", str(int(uid) + 2047), "1"])
    assert seen[2:] == ["True", "True"]


def test_two_agents_share_no_user_id(place):
    uids = sorted(one["uid"] for one in place.agents().values())
    assert uids[1] - uids[0] >= 2048 and uids[0] > 1_000_000_000


def test_proxy_variables_are_set(place):
    seen = place.run("env", "HTTPS_PROXY=http://elsewhere", "SSH_AUTH_SOCK=/x", "KEEP=1",
                     *place_tool("exec", "alpha", "--", "env")).stdout.splitlines()
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        assert f"{name}=http://10.200.0.1:3128" in seen
    assert "NODE_USE_ENV_PROXY=1" in seen and "KEEP=1" in seen and "SSH_AUTH_SOCK=/x" not in seen
    assert any(line.startswith("NO_PROXY=") for line in seen) and any(line.startswith("no_proxy=") for line in seen)


def place_tool(*arguments):
    return [str(TOOL), *arguments]


HIDDEN = ["/run/stile", "/run/netns", "/run/secret", "/etc/stile/stile.toml", "/var/lib/stile/netns.last",
          "/var/log/stile/audit.jsonl", "/tmp/shared", "/root/.stile-test"]  # /root is the machine's own


def test_hides_what_is_the_hosts_and_gives_private_places_instead(place):
    place.run("sh", "-c", "mkdir -p /etc/stile /var/log/stile /root/.stile-test; touch /run/secret /etc/stile/stile.toml "
                          "/var/log/stile/audit.jsonl /tmp/shared; chmod 777 /run/secret")
    try:
        listed = place.inside("alpha", "for path in sys.argv[1:]: print(path, os.path.exists(path))", *HIDDEN).stdout
        assert listed.splitlines() == [f"{path} False" for path in HIDDEN]
        for folder in ("/tmp", "/var/tmp", "/dev/shm", "/root", "/run"):
            assert place.shell("alpha", f"echo mine > {folder}/x && cat {folder}/x").stdout == "mine\n"
            assert not place.exists(f"{folder}/x")
        assert place.shell("beta", "ls -A /tmp /dev/shm").stdout == "/dev/shm:\n\n/tmp:\n"
    finally:
        place.run("rmdir", "/root/.stile-test")


def test_exposes_what_is_named(place):
    place.run("sh", "-c", "mkdir -p /tmp/work; echo hello > /tmp/work/file; echo one > /run/one")
    done = place.tool("exec", "alpha", "--expose", "/tmp/work", "--expose", "/run/one", "--", "sh", "-c",
                      "cat /tmp/work/file /run/one; ls /tmp /run")
    assert done.stdout == "hello\none\n/run:\none\n\n/tmp:\nwork\n"
    assert place.tool("exec", "alpha", "--expose", "/nonexistent", "--", "true", check=False).returncode == 125


def test_what_is_exposed_is_not_chosen_by_a_link(place):
    """The agent may be able to write on the way to what is exposed, and would choose what it sees."""
    place.run("sh", "-c", "mkdir -p /var/shared /run/secrets; echo secret > /run/secrets/file; "
                          "ln -sfn /run/secrets /var/shared/link; ln -sfn /etc /tmp/elsewhere")
    for path in ("/var/shared/link", "/var/shared/link/file", "/tmp/elsewhere/hostname"):
        done = place.tool("exec", "alpha", "--expose", path, "--", "cat", "/var/shared/link/file", check=False)
        assert done.returncode == 125 and "a part of it is a link" in done.stderr, path
    assert place.tool("exec", "alpha", "--expose", "run/secrets", "--", "true", check=False).returncode == 125


def test_keeps_the_working_directory_unless_it_is_hidden(place):
    for folder, seen in (("/usr/share", "/usr/share"), ("/run/stile", "/root"), ("/tmp", "/tmp")):
        done = place.run("env", "-C", folder, *place_tool("exec", "alpha", "--", "sh", "-c", "pwd -P; ls ."))
        assert done.stdout.splitlines()[0] == seen
        assert "agents.d" not in done.stdout


def test_a_hidden_working_directory_is_no_way_back(place):
    done = place.run("env", "-C", "/run/stile/agents.d",
                     *place_tool("exec", "alpha", "--", "sh", "-c", "ls; ls ..; ls /proc/self/cwd/.."))
    assert "alpha.json" not in done.stdout and "netns.lock" not in done.stdout


def test_inherits_only_the_standard_descriptors(place):
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    try:
        done = place.run(*place_tool("exec", "alpha", "--", "ls", "/proc/self/fd"), pass_fds=[writer])
    finally:
        os.close(reader)
        os.close(writer)
    assert done.stdout.split() == ["0", "1", "2", "3"]  # 3 is the directory being listed


def test_sees_only_its_own_processes_and_devices(place):
    seen = place.shell("alpha", "ls /proc | grep -c '^[0-9]'; ls /sys/class/net; ls /proc/sys/net/ipv4/conf").stdout
    count, *names = seen.split()
    assert int(count) <= 5
    assert sorted(set(names)) == ["all", "default", "eth0", "lo"]


def test_what_is_mounted_over_the_hosts_things_cannot_be_taken_away(place):
    place.inside("alpha", """
libc = ctypes.CDLL(None, use_errno=True)
for path in (b"/run", b"/proc", b"/sys", b"/tmp", b"/etc/stile", b"/"):
    for flags in (0, 2):  # MNT_DETACH
        if libc.umount2(path, flags) == 0:
            sys.exit(f"unmounted {path}")
os.mkdir("/tmp/view")
if libc.mount(b"/", b"/tmp/view", None, 4096, None) == 0:  # without what is mounted below
    sys.exit("bound / without its mounts")
libc.mount(b"/", b"/tmp/view", None, 4096 | 16384, None)  # with it
if os.path.exists("/tmp/view/run/stile") or os.path.exists("/tmp/view/run/netns"):
    sys.exit("seen through a bind mount")
libc.umount2(b"/tmp/view/run", 2)
if os.path.exists("/tmp/view/run/stile"):
    sys.exit("seen below a bind mount")
libc.unshare(0x00020000)
if libc.umount2(b"/run", 2) == 0:
    sys.exit("unmounted in a new namespace")
if libc.pivot_root(b"/tmp", b"/tmp/view") == 0 and os.path.exists("/view/run/stile"):
    sys.exit("seen after pivot_root")
""")


def test_nsenter_setns_and_ptrace_lead_nowhere(place):
    outside = place.popen("sleep", "100")
    place.inside("alpha", """
libc = ctypes.CDLL(None, use_errno=True)
mine = os.stat("/proc/self/ns/net").st_ino
for pid in (1, int(sys.argv[1]), os.getppid()):
    for kind in ("net", "mnt", "pid", "user"):
        try:
            fd = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
        except OSError:
            continue
        if kind == "net" and os.fstat(fd).st_ino != mine:
            sys.exit(f"saw another network namespace through {pid}")
        libc.setns(fd, 0)
    if pid != os.getppid() and libc.ptrace(16, pid, 0, 0) == 0:  # PTRACE_ATTACH
        sys.exit(f"traced {pid}")
    for link in ("root", "cwd", "exe"):
        try:
            target = os.listdir(f"/proc/{pid}/{link}/run")
        except OSError:
            continue
        if "stile" in target:
            sys.exit(f"saw the host through {pid}/{link}")
if os.stat("/proc/self/ns/net").st_ino != mine:
    sys.exit("left the network namespace")
for command in ("nsenter -t 1 -a true", "nsenter -t 1 -n true", "ip netns list", "nsenter --net=/run/netns/agent-beta true"):
    if sh(command).returncode == 0 and command != "ip netns list":
        sys.exit(command)
if sh("ip netns list").stdout:
    sys.exit("saw namespaces")
""", outside.pid)


def test_devices_cannot_be_moved_out(place):
    place.inside("alpha", """
sh("ip link add d0 type veth peer name d1", check=True)
for target in (sys.argv[1], "/proc/1/ns/net", "2", "99999"):
    sh(f"ip link set d0 netns {target}")
for words in ("link add link eth0 name m0 link-netnsid 0 type vxlan id 7 dev eth0", "link set d0 netns 0",
              "-n 0 link set lo down", "addr show target-nsid 0"):
    sh(f"ip {words}")
names = sh("ip -o link").stdout
sys.exit(0 if "d0@" in names and "d1@" in names else names)
""", place.process.pid)
    assert "d0" not in place.run("ip", "-o", "link").stdout and "m0" not in place.run("ip", "-o", "link").stdout


def test_unix_sockets_of_the_host_cannot_be_reached(place):
    place.run("sh", "-c", "mkdir -p /run/dbus /run/systemd/resolve /run/user/0 /tmp/.X11-unix")
    paths = ["/run/stile/control.sock", "/run/dbus/system_bus_socket", "/run/docker.sock", "/var/run/docker.sock",
             "/run/systemd/resolve/io.systemd.Resolve", "/run/user/0/bus", "/tmp/.X11-unix/X0", "/run/avahi-daemon/socket",
             "\\0abstract"]
    listen = """
import socket, sys, os
kept = []
for path in sys.argv[1:]:
    name = "\\0abstract" if path.endswith("abstract") else path
    os.makedirs(os.path.dirname(name) or "/", exist_ok=True)
    if os.path.exists(name): continue
    sock = socket.socket(socket.AF_UNIX); sock.bind(name); sock.listen(); kept.append(sock)
    if name[0] == "/": os.chmod(name, 0o777)
print("ready", flush=True); sys.stdin.read()
"""
    listener = place.popen(PYTHON, "-c", listen, *paths, stdin=-1, stdout=-1)
    assert listener.stdout.readline() == b"ready\n"
    reached = place.inside("alpha", """
for path in sys.argv[1:]:
    name = "\\0abstract" if path.endswith("abstract") else path
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.connect(name)
        print("reached", path)
    except OSError as problem:
        pass
""", *paths).stdout
    listener.communicate()  # or the next test asks a daemon that never answers
    assert reached == ""


def test_sockets_that_listen_for_everybody_are_hidden_wherever_they_are(place):
    listen = ("import socket, os, sys\nkept = []\n"
              "for path in sys.argv[1:]:\n"
              "    os.makedirs(os.path.dirname(path), exist_ok=True)\n"
              "    sock = socket.socket(socket.AF_UNIX); sock.bind(path); sock.listen(); kept.append(sock); os.chmod(path, 0o777)\n"
              "print('ready', flush=True); sys.stdin.read()")
    paths = ["/var/lib/mail server/socket", "/etc/thing/socket"]
    listener = place.popen(PYTHON, "-c", listen, *paths, stdin=-1, stdout=-1)
    assert listener.stdout.readline() == b"ready\n"
    knock = ("import socket, sys\nfor path in sys.argv[1:]:\n"
             "    try: socket.socket(socket.AF_UNIX).connect(path); print('reached', path)\n"
             "    except OSError: print('refused')")
    done = place.tool("exec", "alpha", "--", PYTHON, "-c", knock, *paths)
    assert done.stdout == "refused\nrefused\n"
    done = place.tool("exec", "alpha", "--expose", paths[1], "--", PYTHON, "-c", knock, *paths)
    assert done.stdout == f"refused\nreached {paths[1]}\n"


def test_a_socket_that_its_service_binds_again_stays_hidden(place):
    """A mount on the socket itself would be gone with the file."""
    serve = ("import socket, os, sys\npath = sys.argv[1]\nos.makedirs(os.path.dirname(path), exist_ok=True)\n"
             "while True:\n"
             "    sock = socket.socket(socket.AF_UNIX); sock.bind(path); sock.listen(); os.chmod(path, 0o777)\n"
             "    print('bound', flush=True)\n"
             "    if not sys.stdin.readline(): break\n"
             "    os.unlink(path)\n")
    path = "/etc/again/socket"
    service = place.popen(PYTHON, "-c", serve, path, stdin=-1, stdout=-1)
    assert service.stdout.readline() == b"bound\n"
    knock = ("import socket, sys\nprint('ready', flush=True)\nsys.stdin.readline()\n"
             "try: socket.socket(socket.AF_UNIX).connect(sys.argv[1]); print('reached')\n"
             "except OSError: print('refused')")
    inside = place.start_tool("exec", "alpha", "--", PYTHON, "-c", knock, path, stdin=-1, stdout=-1)
    assert inside.stdout.readline() == b"ready\n"
    service.stdin.write(b"again\n")
    service.stdin.flush()
    assert service.stdout.readline() == b"bound\n"
    out, _ = inside.communicate(b"go\n", timeout=PATIENCE_SECONDS)
    assert out == b"refused\n"


def test_shows_the_system_and_what_is_named_and_no_other_files(place):
    place.run("sh", "-c", "mkdir -p /var/data /var/more; echo data > /var/data/file; echo KEY=1 > /var/data/.env;"
                          " chmod 777 /var/more")
    listed = "ls /var/data /var/more /home 2>/dev/null; cat /var/data/.env 2>/dev/null; touch /var/data/x; touch /var/more/x"
    assert place.shell("alpha", listed, check=False).stdout == ""
    done = place.tool("exec", "alpha", "--read", "/var/data", "--write", "/var/more", "--", "sh", "-c", listed, check=False)
    assert done.stdout == "/var/data:\nfile\n\n/var/more:\n" and place.exists("/var/more/x"), done
    assert not place.exists("/var/data/x")
    done = place.tool("exec", "alpha", "--files", "host", "--", "cat", "/var/data/file")
    assert done.stdout == "data\n"


def test_families_that_no_network_namespace_confines_are_refused(place):
    seen = place.inside("alpha", """
allowed = []
for family in range(0, 64):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            socket.socket(family, kind).close()
            allowed.append(family)
        except OSError as problem:
            pass
print(sorted(set(allowed)))
libc = ctypes.CDLL(None, use_errno=True)
print(libc.syscall(425, 4, ctypes.create_string_buffer(200)), errno.errorcode[ctypes.get_errno()])
""").stdout.splitlines()
    assert seen[0] in ("[1, 2, 10, 16, 17]", "[1, 2, 16, 17]")
    assert seen[1] == "-1 ENOSYS"  # io_uring, which could make any of them


def test_characters_cannot_be_put_into_the_callers_terminal(place):
    main, side = pty.openpty()
    code = ("import fcntl, termios\n"
            "for call in (termios.TIOCSTI, 0x541C):\n"
            "    try: fcntl.ioctl(0, call, b'x'); print('typed')\n"
            "    except OSError as problem: print(problem.errno)\n")
    done = place.run(*place_tool("exec", "alpha", "--", PYTHON, "-c", code), stdin=side,
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, capture_output=False, preexec_fn=os.setsid)
    os.close(main)
    os.close(side)
    assert done.stdout.split() == ["1", "1"]


def test_setuid_programs_give_nothing(place):
    assert place.shell("alpha", "grep NoNewPrivs /proc/self/status").stdout.split()[1] == "1"


def test_root_of_the_host_gives_protection_up_with_ip_netns_exec(place):
    """What the documents warn of: it is another door, and only root has its key."""
    seen = place.run("ip", "netns", "exec", "agent-alpha", "sh", "-c", "id -u; cat /proc/self/uid_map").stdout.split()
    assert seen[:3] == ["0", "0", "0"]
