"""What the kernel takes for its own is the host's, whether or not an interface has it as its address."""

import ctypes
import os
import resource
import socket
import subprocess
import sys

import pytest
from harness.checks import assert_denied, assert_refusal
from harness.wait import until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="a network of its own needs root")

CLONE_NEWNET = 0x40000000
# Public addresses, in a network that leads nowhere.
ANYCAST, OTHER = "93.184.215.0/24", "93.184.216.0/24"


def ip(*words):
    subprocess.run(["ip", *words], check=True)


@pytest.fixture
def own_network():
    """This thread, and what it starts, in a network namespace with nothing but a loopback."""
    libc = ctypes.CDLL(None, use_errno=True)
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    assert libc.unshare(CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
    try:
        ip("link", "set", "lo", "up")
        yield
    finally:
        assert libc.setns(home, CLONE_NEWNET) == 0
        os.close(home)


def listener(port):
    sock = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
    sock.setblocking(False)
    return sock


def was_dialled(sock):
    try:
        sock.accept()
    except BlockingIOError:
        return False
    return True


@pytest.mark.parametrize("prefix, address", [
    (ANYCAST, "93.184.215.14"), ("2606:2800:220:1::/64", "2606:2800:220:1::14")], ids=["v4", "v6"])
def test_local_route_is_an_address_of_the_host(own_network, world, prefix, address):
    ip("route", "add", "local", prefix, "dev", "lo")
    world.dns.host("own.test", address)
    world.agent("alpha", allow=["own.test"])
    with listener(world.port) as service:
        proxy = world.start()
        answer = proxy.connect("own.test", world.port)
        assert_denied(proxy, answer, "address-forbidden", host="own.test")
        assert not was_dialled(service)


def test_local_route_that_comes_and_goes_is_noticed(own_network, world):
    world.dns.host("own.test", "93.184.215.14")
    world.agent("alpha", allow=["own.test"])
    proxy = world.start()
    assert_refusal(proxy.connect("own.test", world.port), "origin-unreachable")
    ip("route", "add", "local", ANYCAST, "dev", "lo")
    until(lambda: proxy.connect("own.test", world.port).reason == "address-forbidden")
    ip("route", "del", "local", ANYCAST, "dev", "lo")
    until(lambda: proxy.connect("own.test", world.port).reason == "origin-unreachable")


def test_route_for_marked_packets_forbids_nothing(own_network, world):
    """TPROXY set-ups have `local default` in a table of their own."""
    ip("route", "add", "local", "0.0.0.0/0", "dev", "lo", "table", "100")
    world.dns.host("other.test", "93.184.215.14")
    world.agent("alpha", allow=["other.test"])
    proxy = world.start()
    assert_refusal(proxy.connect("other.test", world.port), "origin-unreachable")


def unread_events(pid):
    """Bytes that wait in the netlink sockets of that network."""
    with open(f"/proc/{pid}/net/netlink", encoding="ascii") as table:
        return sum(int(line.split()[4]) for line in list(table)[1:])


def test_list_holds_when_no_descriptor_is_left(own_network, world):
    ip("route", "add", "local", ANYCAST, "dev", "lo")
    world.dns.host("own.test", "93.184.215.14")
    world.dns.host("new.test", "93.184.216.14")
    world.agent("alpha", allow=["own.test", "new.test"])
    proxy = world.start(server={"workers": 1})
    # Its worker is in its sandbox, which takes a descriptor, before it answers.
    assert_refusal(proxy.connect("own.test", world.port), "address-forbidden")
    limits = resource.prlimit(proxy.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(proxy.process.pid, resource.RLIMIT_NOFILE, (0, limits[1]))
    ip("route", "add", "local", OTHER, "dev", "lo")
    until(lambda: unread_events(proxy.process.pid) == 0)
    resource.prlimit(proxy.process.pid, resource.RLIMIT_NOFILE, limits)
    assert_refusal(proxy.connect("own.test", world.port), "address-forbidden")
    until(lambda: proxy.connect("new.test", world.port).reason == "address-forbidden")


WITHOUT_NETLINK = """
import ctypes, os, sys
seccomp = ctypes.CDLL("libseccomp.so.2")
class Compare(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int),
                ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]
seccomp.seccomp_init.restype = ctypes.c_void_p
allow, refuse, equal, netlink, emfile = 0x7fff0000, 0x00050000, 4, 16, 24
filter = ctypes.c_void_p(seccomp.seccomp_init(allow))
call = seccomp.seccomp_syscall_resolve_name(b"socket")
rule = Compare(0, equal, netlink, 0)
assert seccomp.seccomp_rule_add_array(filter, refuse | emfile, call, 1, ctypes.byref(rule)) == 0
assert seccomp.seccomp_load(filter) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_without_the_list_nothing_is_served(world):
    world.agent("alpha")
    proxy = world.proxy().start(wait=False, wrapper=[sys.executable, "-c", WITHOUT_NETLINK])
    assert proxy.wait_exit() == 1
    proxy.expected_exit = {1}
    assert "cannot read the addresses of this host" in proxy.log_text() \
        or "cannot watch the addresses of this host" in proxy.log_text()
    assert "Too many open files" in proxy.log_text()
