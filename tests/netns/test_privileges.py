"""Root inside, with every capability of its user namespace and new ones of its own making, tries to
get power over the host: its files, its processes, its kernel, its devices."""

import pytest

from lab.host import Host

# Each runs inside of alpha, after lab/inside.py, and ends with what it reached as its exit message.
# `syscall` returns -1 and sets `problem()` like the C function does.
LIBRARY = """
libc = ctypes.CDLL(None, use_errno=True)
SECRET = "only-the-host-may-read-this"
def problem():
    return errno.errorcode.get(ctypes.get_errno(), "0")
def mount(source, target, kind, flags=0, options=None):
    encode = lambda text: text.encode() if text is not None else None
    return libc.mount(encode(source), encode(target), encode(kind), flags, encode(options))
def sees_the_host(root):
    return any(os.path.exists(root + path) for path in ("/run/stile", "/run/netns", "/run/secret", "/etc/stile/stile.toml"))
def in_a_new_user_namespace(work):
    pid = os.fork()
    if pid == 0:
        if libc.unshare(0x10000000 | 0x00020000) == 0:  # CLONE_NEWUSER, CLONE_NEWNS
            for name, text in (("setgroups", "deny"), ("uid_map", "0 0 1"), ("gid_map", "0 0 1")):
                with open(f"/proc/self/{name}", "w") as file:
                    file.write(text)
        work()
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        sys.exit("in a user namespace of its own")
"""

ATTEMPTS = {
    "unmounts in a user namespace of its own": """
def work():
    for path in (b"/run", b"/etc/stile", b"/proc", b"/tmp", b"/"):
        if libc.umount2(path, 2) == 0 and sees_the_host(""):
            os._exit(1)
in_a_new_user_namespace(work)
""",
    "binds, copies and moves trees": """
def work():
    os.makedirs("/tmp/a", exist_ok=True)
    for path in ("/", "/run", "/var", "/etc"):
        for flags in (4096, 4096 | 16384, 8192):  # MS_BIND, with MS_REC, MS_MOVE
            if mount(path, "/tmp/a", None, flags) == 0:
                libc.umount2(b"/tmp/a/run", 2), libc.umount2(b"/tmp/a/stile", 2)
                if sees_the_host("/tmp/a") or os.path.exists("/tmp/a/stile/stile.toml"):
                    os._exit(1)
                libc.umount2(b"/tmp/a", 2)
        tree = libc.syscall(428, -100, path.encode(), 1)  # open_tree, OPEN_TREE_CLONE: without what is below
        if tree >= 0 and any(sees_the_host(f"/proc/self/fd/{tree}{suffix}") for suffix in ("", "/..")):
            os._exit(1)
work(), in_a_new_user_namespace(work)
""",
    "looks below mounts with an overlay": """
def work():
    for name in ("m", "u", "w"):
        os.makedirs(f"/tmp/o/{name}", exist_ok=True)
    for lower in ("/", "/etc", "/var", "/run"):
        if mount("overlay", "/tmp/o/m", "overlay", 0, f"lowerdir={lower},upperdir=/tmp/o/u,workdir=/tmp/o/w") == 0:
            if sees_the_host("/tmp/o/m") or os.path.exists("/tmp/o/m/stile/stile.toml"):
                os._exit(1)
            libc.umount2(b"/tmp/o/m", 2)
work(), in_a_new_user_namespace(work)
""",
    "opens files by handle": """
for start in ("/", "/etc", "/usr", "/run"):
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    number = ctypes.c_int()
    if libc.name_to_handle_at(-100, start.encode(), handle, ctypes.byref(number), 0) != 0:
        continue
    place = os.open(start, os.O_RDONLY)
    fd = libc.open_by_handle_at(place, handle, os.O_RDONLY)
    if fd >= 0 and sees_the_host(f"/proc/self/fd/{fd}"):
        sys.exit("opened " + start)
""",
    "mounts file systems of the kernel": """
os.makedirs("/tmp/k", exist_ok=True)
for kind in ("proc", "sysfs", "devtmpfs", "debugfs", "tracefs", "securityfs", "cgroup", "cgroup2", "bpf", "configfs",
             "devpts", "mqueue", "tmpfs", "ext4", "fuse"):
    if mount(kind, "/tmp/k", kind) == 0:
        names = set(os.listdir("/tmp/k"))
        if sys.argv[1] in names or "sda" in names or (kind == "sysfs" and set(os.listdir("/tmp/k/class/net")) - {"eth0", "lo"}):
            sys.exit(f"{kind} shows {names}")
        libc.umount2(b"/tmp/k", 2)
""",
    "writes to the kernel's files": """
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger", "/proc/sys/kernel/hotplug",
             "/sys/kernel/uevent_helper", "/proc/sys/kernel/yama/ptrace_scope", "/proc/sys/vm/overcommit_memory",
             "/proc/sys/fs/binfmt_misc/register", "/dev/mem", "/dev/kmsg", "/proc/kcore", "/proc/1/oom_score_adj"):
    try:
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        continue
    if path != "/proc/1/oom_score_adj":
        sys.exit(path)
""",
    "makes devices": """
import stat
for name, kind, number in (("disk", stat.S_IFBLK, os.makedev(8, 0)), ("memory", stat.S_IFCHR, os.makedev(1, 1)),
                           ("root", stat.S_IFBLK, os.stat("/usr").st_dev)):
    try:
        os.mknod(f"/tmp/{name}", kind | 0o600, number)
        os.open(f"/tmp/{name}", os.O_RDONLY)
        sys.exit(name)
    except OSError:
        pass
""",
    "asks the kernel for what only the host's root gets": """
for name, number, arguments in (("init_module", 175, (0, 0, b"")), ("finit_module", 313, (0, b"", 0)),
                                ("kexec_load", 246, (0, 0, 0, 0)), ("bpf", 321, (0, bytes(128), 128)),
                                ("reboot", 169, (0xfee1dead, 672274793, 0, 0)),  # CAD off: harmless if it worked
                                ("settimeofday", 164, (struct.pack("qq", 1, 0), 0)), ("syslog", 103, (3, bytes(64), 64)),
                                ("swapon", 167, (b"/tmp/x", 0)), ("iopl", 172, (3,))):
    if libc.syscall(number, *arguments) >= 0:
        sys.exit(name)
""",
    "reads and drives processes of the host": """
host = int(sys.argv[1])
for pid in (host, os.getppid()):
    if pid == host and libc.syscall(434, pid, 0) >= 0:  # pidfd_open
        sys.exit("a descriptor of a process of the host")
    for path in ("mem", "environ", "maps", "root/run/stile", "cwd/run/stile", "fd/3"):
        try:
            fd = os.open(f"/proc/{pid}/{path}", os.O_RDONLY)
            if path == "mem" or os.read(fd, 1):
                sys.exit(f"/proc/{pid}/{path}")
        except OSError:
            pass
    if libc.ptrace(16, pid, 0, 0) == 0:  # PTRACE_ATTACH
        sys.exit(f"traced {pid}")
    buffer = ctypes.create_string_buffer(8)
    vector = struct.pack("PN", ctypes.addressof(buffer), 8), struct.pack("PN", 0x400000, 8)
    if libc.process_vm_readv(pid, vector[0], 1, vector[1], 1, 0) > 0:
        sys.exit(f"read {pid}")
try:
    os.kill(host, 0)
    sys.exit("signalled a process of the host")
except ProcessLookupError:
    pass
""",
    "takes other user ids": """
for uid in (1, 1000, 2046, 65534):
    pid = os.fork()
    if pid == 0:
        os.setgroups([uid]), os.setresgid(uid, uid, uid), os.setresuid(uid, uid, uid)
        try:
            os._exit(1 if os.read(os.open("/etc/shadow", os.O_RDONLY), 1) else 0)  # covered
        except PermissionError:
            os._exit(0)
    if os.waitpid(pid, 0)[1]:
        sys.exit(f"read /etc/shadow as {uid}")
for uid in (2047, 100000, 4294967294):
    try:
        os.setresuid(uid, uid, uid)
        sys.exit(f"became {uid}")
    except OSError:
        pass
os.close(os.open("/tmp/mine", os.O_CREAT | os.O_RDWR))
os.chmod("/tmp/mine", 0o4755)
try:
    os.chown("/etc/hostname", 0, 0)
    sys.exit("owns a file of the host")
except OSError:
    pass
""",
    "widens its own cage": """
for name in ("uid_map", "gid_map", "setgroups"):
    try:
        with open(f"/proc/self/{name}", "w") as file:
            file.write("0 0 4294967295")
        sys.exit(name)
    except OSError:
        pass
libc.prctl(38, 0, 0, 0, 0)  # no_new_privs off
libc.prctl(22, 0, 0, 0, 0)  # seccomp off
if libc.socket(40, 1, 0) >= 0 or "NoNewPrivs:\\t1" not in open("/proc/self/status").read():
    sys.exit("loosened")
""",
    "asks about the host's network through netlink": """
def ask(kind, *attributes):
    body = b"".join(struct.pack("HHI", 8, number, value) for number, value in attributes)
    head = struct.pack("BxHiII", 0, 0, 0, 0, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as sock:
        sock.settimeout(5)
        sock.send(struct.pack("IHHII", 16 + len(head) + len(body), kind, 0x301, 1, 0) + head + body)
        return sock.recv(65536)
for nsid in range(4):  # the veth's other end is in a namespace that has a number here
    answer = ask(18, (46, nsid))  # RTM_GETLINK, IFLA_TARGET_NETNSID
    if b"up0" in answer or b"stile-" in answer:
        sys.exit("saw the host's devices")
for line in open("/proc/net/route").read().splitlines() + open("/proc/net/tcp").read().splitlines():
    if "up0" in line:
        sys.exit("saw the host's routes")
""",
}


@pytest.fixture(scope="module")
def place():
    host = Host()
    host.create("alpha")
    host.write("/etc/stile/stile.toml", "# only-the-host-may-read-this\n")
    host.write("/run/secret", "only-the-host-may-read-this\n")
    host.run("ip", "link", "add", "up0", "type", "veth", "peer", "name", "in0")
    host.bystander = host.popen("sleep", "1000")
    yield host
    host.close()


@pytest.mark.parametrize("name", ATTEMPTS)
def test_no_power_over_the_host_for_one_who(place, name):
    place.inside("alpha", LIBRARY + ATTEMPTS[name], place.bystander.pid)


def test_control_the_hosts_root_sees_what_is_hidden(place):
    """The same look, from where there is something to see."""
    code = LIBRARY + "sys.exit(0 if sees_the_host('') else 'nothing to see')"
    place.inside_as_host_root("alpha", code)


def test_what_the_tool_knows_of_others_is_not_in_the_memory_of_its_first_process(place):
    """The first process inside was the tool a moment ago, and has read the config."""
    seen = place.inside("alpha", "print(open('/proc/1/comm').read().strip(), os.access('/proc/1/mem', os.R_OK))\n"
                                 "try: print(len(open('/proc/1/environ').read()))\n"
                                 "except OSError as problem: print(errno.errorcode[problem.errno])").stdout.split()
    assert seen[0] == "stile-netns" and seen[2] in ("EACCES", "EPERM")
