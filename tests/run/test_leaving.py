"""stile run: ways out that do not lead through the proxy, each tried from inside."""

import os
import socket
import subprocess
import sys

import pytest
from harness.checks import assert_untouched
from harness.wait import until


def test_there_is_a_loopback_and_no_other_network(fence):
    done = fence.shell(script="cat /proc/net/route; cat /proc/net/dev; ip -o link")
    devices = [line.split(":")[0].strip() for line in done.out.splitlines() if ":" in line]
    assert set(devices) - {"Inter-|   Receive", "1"} == {"lo"}, done.out
    assert done.out.splitlines()[0].startswith("Iface") and "UP" in done.out


@pytest.mark.parametrize("family, kind, target", [
    ("AF_INET", "SOCK_STREAM", ("192.0.2.1", 443)), ("AF_INET", "SOCK_DGRAM", ("192.0.2.1", 53)),
    ("AF_INET", "SOCK_DGRAM", ("192.0.2.1", 443)), ("AF_INET6", "SOCK_STREAM", ("2001:db8::1", 443)),
    ("AF_INET", "SOCK_STREAM", ("169.254.169.254", 80))])
def test_direct_connections_go_nowhere(fence, family, kind, target):
    done = fence.python(script=f"""
import socket
sock = socket.socket(socket.{family}, socket.{kind})
sock.settimeout(3)
try:
    sock.connect({target!r})
    print("OUT")
except OSError as error:
    print("no way:", error.errno)
""")
    assert done.code == 0 and "OUT" not in done.out and "no way" in done.out, done


def test_the_hosts_loopback_is_another_one(fence):
    origin = fence.world.tcp_origin("t.test")
    resolver = fence.world.dns
    done = fence.python("--no-capture", script=f"""
import socket
sock = socket.socket()
print(sock.connect_ex(({origin.address!r}, {fence.world.port})))
with socket.socket(type=socket.SOCK_DGRAM) as udp:
    udp.settimeout(1)
    udp.connect(({resolver.address!r}, {resolver.port}))
    try:
        udp.send(bytes.fromhex("000101000001000000000000") + b"\\x04leak\\x04test\\0\\0\\x01\\0\\x01")
        print(udp.recv(512))
    except OSError as error:
        print("refused")
""")
    assert done.out.splitlines() == ["111", "refused"], done
    assert_untouched(origin)
    assert not resolver.names_asked()


def test_names_are_not_resolved_inside(fence):
    fence.world.tcp_origin("t.test")
    done = fence.python(script="""
import socket
try:
    print("RESOLVED", socket.getaddrinfo("t.test", 443))
except OSError:
    print("no")
""")
    assert done.out == "no\n"
    assert not fence.world.dns.names_asked()


@pytest.mark.parametrize("call", [
    "socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)",
    "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)",
    "socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW)",
    "socket.socket(16, socket.SOCK_RAW, 12).bind((0, 1))",
    "os.setuid(0)", "os.chroot('/')", "os.mknod('/tmp/device', 0o600 | 0o60000, 0x0801)",
    "libc_call('mount', b'proc', b'/mnt', b'proc', 0, None)",
    "libc_call('umount2', b'/run', 2)", "libc_call('umount2', b'/proc', 2)",
    "libc_call('setns', os.open('/proc/1/ns/net', os.O_RDONLY), 0)",
    "libc_call('unshare', 0x40000000)", "libc_call('ptrace', 16, 1, 0, 0)",
    "libc_call('syscall', 425, 8, ctypes.create_string_buffer(120))",
    "os.readlink('/proc/1/exe')", "open('/proc/1/mem', 'rb')", "open('/proc/1/environ').read()",
    "os.listdir('/proc/1/fd')", "os.listdir('/proc/1/root')",
    "fcntl.ioctl(os.open('/dev/ptmx', os.O_RDWR), termios.TIOCSTI, b'x')",
])
def test_what_needs_power_is_refused(fence, call):
    done = fence.python(script=f"""
import ctypes, fcntl, os, socket, termios
libc = ctypes.CDLL(None, use_errno=True)
def libc_call(name, *arguments):
    if getattr(libc, name)(*arguments) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
try:
    {call}
    print("DONE")
except OSError as error:
    print("refused", error.errno)
""")
    assert done.out.startswith("refused"), done


def test_processes_outside_do_not_exist_inside(fence):
    done = fence.python(script=f"""
import os
pids = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
print(pids == [1, os.getpid()], os.getppid())
for pid in ({os.getpid()}, {os.getppid()}):
    try:
        os.kill(pid, 0)
        print("THERE")
    except ProcessLookupError:
        print("nobody")
""")
    assert done.out.splitlines() == ["True 1", "nobody", "nobody"], done


def test_the_first_process_cannot_be_killed_by_the_command(fence):
    """The kernel would end everything else with it; and it keeps the status honest."""
    done = fence.shell(script="kill -KILL 1; kill -STOP 1; exit 5")
    assert done.code == 5


def test_capabilities_of_a_namespace_of_its_own_open_nothing(fence):
    """Root in a nested user namespace: the hidden places stay hidden, the network stays empty."""
    origin = fence.world.tcp_origin("t.test")
    done = fence.shell(script=f"""
        unshare --user --map-root-user --mount --net sh -c '
            ip link set lo up
            for place in /run /tmp /proc /var/tmp /dev/shm; do umount -l $place && echo UNDONE $place; done
            nsenter --net=/proc/1/ns/net true && echo ENTERED
            ls /var/tmp /dev/shm | grep -v :
            curl -q -s --noproxy "*" --max-time 3 http://{origin.address}:{fence.world.port}/ && echo OUT
            ip link add v0 type veth peer name v1 && ip link set v0 netns 1 && echo MOVED
            true'
        """)
    assert done.code == 0 and done.out.strip() == "", done
    assert_untouched(origin)


def test_abstract_sockets_stay_outside(fence):
    name = f"\0stile-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(name)
        listener.listen()
        done = fence.python(script=f"""
import socket
print(socket.socket(socket.AF_UNIX).connect_ex({name!r}))
""")
    assert done.out == "111\n", done


def test_shared_memory_and_message_queues_are_its_own(user_fence):
    made = subprocess.run(["ipcmk", "-Q", "-p", "0666"], capture_output=True, text=True, check=True)
    number = made.stdout.split()[-1]
    try:
        done = user_fence.shell(script="ipcs -q; ls /dev/mqueue /dev/shm")
        assert f" {number} " not in done.out, done
    finally:
        subprocess.run(["ipcrm", "-q", number], check=True)


def test_setuid_programs_gain_nothing(user_fence):
    done = user_fence.shell(script="grep NoNewPrivs /proc/self/status; su -c id root </dev/null; id -u")
    assert "NoNewPrivs:\t1" in done.out and "uid=0" not in done.out


def test_the_port_of_the_proxy_cannot_be_taken(fence):
    done = fence.python(script="""
import socket
for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, option, 1)
    try:
        sock.bind(("127.0.0.1", 3128))
        sock.listen()
        print("TAKEN")
    except OSError as error:
        print(error.errno)
""")
    assert done.out.split() == ["98", "98"], done


KEYS = """
import ctypes, errno, os
add_key, request_key, keyctl = {"x86_64": (248, 249, 250)}.get(os.uname().machine, (217, 218, 219))
libc = ctypes.CDLL(None, use_errno=True)
LINK, UNLINK, READ = 8, 9, 11
PROCESS, USER = -2, -4


def call(*arguments):
    result = libc.syscall(*arguments)
    return result if result >= 0 else errno.errorcode[ctypes.get_errno()]
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_keys_of_the_user_are_out_of_reach(fence):
    """A process of the same user can take the user's keyring by its number, also in another namespace."""
    holder = subprocess.Popen(
        [*fence.drop(), sys.executable, "-c", KEYS + """
key = call(add_key, b"user", b"stile-test", b"PRIZE", 5, USER)
print(call(keyctl, 0, USER, 0), key, flush=True)
input()
call(keyctl, UNLINK, key, USER)
"""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        ring, key = map(int, holder.stdout.readline().split())
        take = KEYS + f"""
print(call(keyctl, LINK, {ring}, PROCESS), call(request_key, b"dns_resolver", b"leak.test", b"", PROCESS))
room = ctypes.create_string_buffer(100)
print(call(keyctl, READ, {key}, room, 100), room.value)
"""
        control = subprocess.run([*fence.drop(), "/usr/bin/unshare", "--user", "--map-current-user", "--net",
                                  sys.executable, "-c", take], capture_output=True, text=True, check=True)
        assert "PRIZE" in control.stdout
        done = fence.python(script=take)
        assert done.out.split() == ["ENOSYS", "ENOSYS", "ENOSYS", "b''"], done
    finally:
        holder.communicate("\n", timeout=60)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_covered_proc_is_said_and_still_leads_nowhere(fence):
    """As in containers, whose runtimes cover parts of /proc: then the kernel allows no new one."""
    victim = subprocess.Popen([*fence.drop(), "sleep", "1000"])
    try:
        until(lambda: b"sleep" in open(f"/proc/{victim.pid}/cmdline", "rb").read(), 20, "sleep")
        done = fence.shell(
            wrapper=["unshare", "--mount", "--propagation", "private", "sh", "-c",
                     'mount --bind /dev/null /proc/cpuinfo && exec "$@"', "sh"],
            script=f"""
            for way in root/run environ fd ns/net cwd/. mem; do
                ls -L /proc/{victim.pid}/$way >/dev/null 2>&1 && cat /proc/{victim.pid}/$way && echo WAY $way
            done
            nsenter --net=/proc/{victim.pid}/ns/net true && echo ENTERED
            kill {victim.pid} && echo KILLED; echo ended""")
        assert done.out.strip() == "ended" and done.code == 0, done
        assert "/proc shows what runs outside" in done.err
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()


def test_an_open_directory_is_no_standard_input(fence):
    """Relative to it, the command could open everything that its user can."""
    place = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    try:
        process = fence.start(command=["cat", "/proc/self/fd/0/etc/hostname"], config="", stdin=place, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        out, err = process.communicate(timeout=50)
    finally:
        os.close(place)
    assert (process.returncode, out) == (125, "") and "descriptor 0 is a directory" in err, err


def test_no_crash_makes_the_kernel_start_a_program_of_the_host(fence):
    """With a pipe in core_pattern it does, as root, unless this limit is 1."""
    done = fence.run(command=["/usr/bin/python3", "-c", """
import resource
for limits in ((0, 1), (0, 0)):
    resource.setrlimit(resource.RLIMIT_CORE, limits)
print(resource.getrlimit(resource.RLIMIT_CORE))
"""], config="")
    assert done.out == "(1, 1)\n", done
