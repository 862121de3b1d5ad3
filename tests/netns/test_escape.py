"""Root inside an agent's namespaces, with every capability there, tries to reach more than the proxy.

Judged by sensors on the host, outside and in another agent's namespace: by what arrived, not by what
the attempt believes.
"""

import pytest

from lab.host import wait_until
from lab.world import World

# Each runs inside of alpha, after lab/inside.py. `other` is the address of beta.
ATTEMPTS = {
    "connects to everything": """
open_route()
for address, port in every_target(other):
    tcp(address, port), udp(address, port)
""",
    "pings": """
open_route()
for address in (GATEWAY, OUTSIDE, METADATA, other, "198.51.100.2"):
    if sh(f"ping -c1 -W0.2 {address}").returncode == 0:
        sys.exit(f"{address} answered")
""",
    "asks for names": """
open_route()
query = MARK + bytes.fromhex("123401000001000000000000016103636f6d0000010001")
for address in (GATEWAY, OUTSIDE, "198.51.100.1", "127.0.0.53"):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(query, (address, 53))
    tcp(address, 53)
""",
    "speaks other protocols to the gateway": """
for protocol in (2, 4, 17, 33, 41, 47, 50, 51, 89, 103, 132, 136, 253):
    send_frame(ip4(own_address(), GATEWAY, protocol, MARK + b" protocol"))
""",
    "takes another agent's address": """
sh(f"ip addr add {other}/32 dev eth0", check=True)
for attempt in (tcp(GATEWAY, 3128, source=other), udp(GATEWAY, 3128, source=other)):
    if attempt != "silence":
        sys.exit(attempt)
""",
    "is nobody but the other agent": """
sh("ip addr flush dev eth0"), sh(f"ip addr add {other}/32 dev eth0", check=True)
sh("ip route add 10.200.0.1 dev eth0", check=True)
if tcp(GATEWAY, 3128) != "silence":
    sys.exit("answered")
""",
    "takes the gateway's and the host's addresses": """
for address in (GATEWAY, "198.51.100.2", "127.0.0.1", "0.0.0.0", OUTSIDE, "255.255.255.255", "224.0.0.1"):
    send_frame(syn4(address, GATEWAY, 3128)), send_frame(udp4(address, GATEWAY, 3128))
    send_frame(syn4(address, OUTSIDE, 443)), send_frame(udp4(address, OUTSIDE, 443))
""",
    "forges every source in raw frames": """
for last in range(256):
    if f"10.200.0.{last}" != own_address():
        send_frame(syn4(f"10.200.0.{last}", GATEWAY, 3128))
    send_frame(udp4(f"10.200.0.{last}", OUTSIDE, 443))
""",
    "changes its hardware address": """
theirs = bytes([6, 0x73]) + socket.inet_aton(other)
for address in (theirs.hex(":"), "02:00:00:00:00:01", gateway_mac().hex(":")):
    sh("ip link set eth0 down"), sh(f"ip link set eth0 address {address}", check=True), sh("ip link set eth0 up")
    sh("ip route add 10.200.0.1 dev eth0"), sh("ip route add default via 10.200.0.1 dev eth0 onlink")
    for target in ((OUTSIDE, 443), (other, 7000), (GATEWAY, 8080)):
        tcp(*target, seconds=0.1)
    send_frame(udp4(own_address(), OUTSIDE, 443), to=bytes([2, 0x73]) + socket.inet_aton(own_address()))
    send_frame(udp4(own_address(), other, 7000), to=theirs)
""",
    "plays games with ARP": """
me, theirs = mac(), socket.inet_aton(other)
def arp(operation, sender_mac, sender, target_mac, target, to=b"\\xff" * 6):
    send_frame(struct.pack("!HHBBH", 1, 0x0800, 6, 4, operation) + sender_mac + sender + target_mac + target + MARK,
               kind=0x0806, to=to)
gateway, zero = socket.inet_aton(GATEWAY), bytes(6)
for operation in (1, 2):
    for claimed in (theirs, gateway, socket.inet_aton("198.51.100.1"), socket.inet_aton("0.0.0.0")):
        arp(operation, me, claimed, zero, claimed), arp(operation, me, claimed, zero, gateway)
        arp(operation, me, claimed, gateway_mac(), gateway, to=gateway_mac())
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0806)) as ear:
    ear.settimeout(0.2)
    for target in (gateway, theirs, socket.inet_aton("198.51.100.2"), socket.inet_aton("127.0.0.1")):
        arp(1, me, socket.inet_aton(own_address()), zero, target)
    try:
        while True:
            frame, where = ear.recvfrom(100)
            if where[2] != socket.PACKET_OUTGOING:
                sys.exit("answered")
    except TimeoutError:
        pass
""",
    "sends tagged and odd frames": """
inner = udp4(own_address(), OUTSIDE, 443), syn4(own_address(), GATEWAY, 8080), udp4(other, GATEWAY, 3128)
for payload in inner:
    for tag in (0x0000, 0x0001, 0x0005, 0x0fff, 0xe000):
        tagged = struct.pack("!HH", tag, 0x0800) + payload
        send_frame(tagged, kind=0x8100), send_frame(tagged, kind=0x88a8)
        send_frame(struct.pack("!HH", tag, 0x8100) + tagged, kind=0x88a8)
    send_frame(bytes.fromhex("00064140") + payload, kind=0x8847)  # MPLS
    send_frame(bytes.fromhex("11000001") + struct.pack("!HH", len(payload) + 2, 0x0021) + payload, kind=0x8864)
    for kind in (0x0026, 0x0805, 0x22f3, 0x6558, 0x8863, 0x888e, 0x88cc, 0x88e5, 0x8906, 0x9000):
        send_frame(MARK + payload, kind=kind)
for to in (b"\\xff" * 6, bytes.fromhex("01005e0000fb"), bytes.fromhex("333300000001"), bytes.fromhex("0180c2000000")):
    for payload in inner:
        send_frame(payload, to=to)
""",
    "sends fragments and options": """
me = own_address()
whole = syn4(me, GATEWAY, 3128)
for target, port in ((GATEWAY, 8080), (OUTSIDE, 443)):
    send_frame(udp4(me, target, port, fragment=0x2000)), send_frame(udp4(me, target, port, fragment=0x0001))
    route = bytes([131, 7, 4]) + socket.inet_aton(OUTSIDE) + b"\\0"
    send_frame(udp4(me, target, port, options=route)), send_frame(syn4(me, target, port, options=route))
send_frame(ip4(me, GATEWAY, 6, MARK, fragment=0x0001)), send_frame(ip4(me, GATEWAY, 6, whole[20:28], fragment=0x2000))
send_frame(ip4(me, GATEWAY, 6, MARK + b"x", fragment=0x0002))
""",
    "turns IPv6 on": """
for name in ("all", "default", "eth0"):
    with open(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "w") as file:
        file.write("0")
sh("ip link set eth0 down"), sh("ip link set eth0 up")
sh("ip -6 addr add fd00::2/64 dev eth0 nodad"), sh("ip -6 addr add fe80::2/64 dev eth0 nodad")
sh("ip -6 route add default via fe80::1 dev eth0")
index = socket.if_nametoindex("eth0")
for address in ("ff02::1", "ff02::2", "ff02::fb", "fe80::73:aff:fec8:2", "fe80::1", "fd00::1", "2001:db8::1"):
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        sock.settimeout(0.1)
        try:
            sock.sendto(MARK + b" six", (address, 5353, 0, index))
        except OSError:
            pass
    for kind in (33, 134, 135, 136, 137):
        icmp = bytes([kind, 0, 0, 0]) + bytes(4) + socket.inet_pton(socket.AF_INET6, "fe80::9") + MARK
        head = struct.pack("!IHBB", 0x60000000, len(icmp), 58, 255)
        ends = socket.inet_pton(socket.AF_INET6, "fe80::2") + socket.inet_pton(socket.AF_INET6, address)
        send_frame(head + ends + icmp, kind=0x86dd), send_frame(head + ends + icmp, kind=0x86dd, to=bytes.fromhex("333300000001"))
    for body in (udp4(own_address(), OUTSIDE, 443), syn4(own_address(), GATEWAY, 3128)):
        six = struct.pack("!IHBB", 0x60000000, len(body), 4, 64)
        send_frame(six + ends + body, kind=0x86dd)
tcp("::ffff:192.0.2.1", 443, family=socket.AF_INET6)
""",
    "digs tunnels": """
open_route()
sh(f"ip link add vx0 type vxlan id 7 remote {GATEWAY} dstport 3128 dev eth0")
sh(f"ip link add vx1 type vxlan id 8 remote {OUTSIDE} dstport 4789 dev eth0")
for index, name in enumerate(("vx0", "vx1")):
    sh(f"ip addr add 203.0.113.{index * 4 + 1}/30 dev {name}"), sh(f"ip link set {name} up")
    udp(f"203.0.113.{index * 4 + 2}", 443), tcp(f"203.0.113.{index * 4 + 2}", 443, seconds=0.1)
for kind in ("ipip", "gre", "sit", "wireguard", "l2tp", "geneve"):
    sh(f"ip link add t-{kind} type {kind} remote {OUTSIDE} local {own_address()}")
for protocol in (4, 41, 47):  # by hand, where the kernel has no device for it
    send_frame(ip4(own_address(), GATEWAY, protocol, udp4(own_address(), OUTSIDE, 443)))
""",
    "makes devices of its own": """
for command in ("ip link add br0 type bridge", "ip link add v0 type veth peer name v1", "ip link set v0 master br0",
                "ip link set eth0 master br0", "ip link set br0 up", "ip link set v0 up", "ip link set v1 up",
                "ip addr add 198.51.100.77/24 dev v1", "ip route add default via 198.51.100.1 dev v1",
                "ip link add link eth0 name eth0.5 type vlan id 5", "ip link add ifb0 type ifb"):
    sh(command)
tcp(OUTSIDE, 443), udp(OUTSIDE, 443), tcp("198.51.100.1", 443), tcp("198.51.100.2", 8080)
send_frame(udp4("198.51.100.77", OUTSIDE, 443), device="v1"), send_frame(udp4("198.51.100.77", OUTSIDE, 443))
""",
    "moves its device into a namespace of its own": """
(unshared, has_unshared), (moved, has_moved) = os.pipe(), os.pipe()
pid = os.fork()
if pid == 0:
    ctypes.CDLL(None).unshare(0x40000000)
    os.write(has_unshared, b"x"), os.read(moved, 1)
    sh("ip link set eth0 up"), sh("ip addr add 10.200.0.9/32 dev eth0"), sh("ip link set lo up")
    sh("ip route add 10.200.0.1 dev eth0"), sh("ip route add default via 10.200.0.1 dev eth0 onlink")
    for address, port in every_target(other):
        tcp(address, port, seconds=0.1), udp(address, port)
    tcp(GATEWAY, 3128, seconds=0.2)
    os._exit(0)
os.read(unshared, 1)
sh(f"ip link set eth0 netns {pid}", check=True)
os.write(has_moved, b"x")
sys.exit(os.waitpid(pid, 0)[1])
""",
    "takes its device down and up": """
for _ in range(5):
    sh("ip link set eth0 down", check=True), sh("ip link set eth0 up", check=True)
    sh("ip route add 10.200.0.1 dev eth0"), sh("ip route add default via 10.200.0.1 dev eth0 onlink")
    send_frame(udp4(own_address(), OUTSIDE, 443)), send_frame(syn4(own_address(), GATEWAY, 8080))
    udp(OUTSIDE, 443), tcp(GATEWAY, 8080, seconds=0.05), tcp(other, 7000, seconds=0.05)
""",
    "routes and translates": """
open_route()
with open("/proc/sys/net/ipv4/ip_forward", "w") as file:
    file.write("1")
sh("nft -f - <<E\\ntable ip n { chain o { type nat hook output priority -100; ip daddr 203.0.113.9 dnat to 192.0.2.1; }\\n"
   "chain p { type nat hook postrouting priority 100; snat to 198.51.100.77; } }\\nE")
tcp("203.0.113.9", 443), udp("203.0.113.9", 443)
sh("nft flush ruleset")
sh("ip route add local 10.200.0.1 dev lo table 7"), sh("ip rule add to 192.0.2.0/24 table main")
tcp(OUTSIDE, 443)
""",
    "answers what it was not asked": """
me = own_address()
for flags in (0x5010, 0x5011, 0x5014, 0x5012, 0x5018):
    for port in (22, 8080, 9128):
        part = struct.pack("!HHIIHHHH", 3128, port, 1, 1, flags, 0xffff, 0, 0) + MARK
        send_frame(ip4(me, GATEWAY, 6, part)), send_frame(ip4(me, "198.51.100.2", 6, part))
quoted = udp4("198.51.100.2", OUTSIDE, 443)[:28]
for kind, code in ((3, 3), (3, 4), (5, 1), (11, 0)):  # unreachable, redirect, time exceeded
    icmp = struct.pack("!BBHI", kind, code, 0, 0) + quoted + MARK
    icmp = icmp[:2] + struct.pack("!H", checksum(icmp)) + icmp[4:]
    send_frame(ip4(me, GATEWAY, 1, icmp)), send_frame(ip4(me, "198.51.100.2", 1, icmp))
""",
}


def attempt(world, code):
    other = world.agents["beta"]["address"]
    return world.host.inside("alpha", f"other = {other!r}\n" + code)


@pytest.fixture(params=["forwarding off", "forwarding on", "capture on"], scope="module")
def forwarding_world(request):
    world = World(capture=request.param == "capture on")
    if request.param == "forwarding on":
        world.host.sysctl("net.ipv4.ip_forward", 1)
        # As on a host where routing was on before: the device begins with 0 and keeps it.
        world.host.tool("repair")
    yield world
    world.close()


@pytest.fixture
def arena(forwarding_world):
    """Both agents as new, and nothing heard so far."""
    world = forwarding_world
    world.host.tool("delete", "alpha", "--kill")
    world.host.write("/etc/cards/alpha.json", '{"agent_id": "alpha", "source": ["10.200.0.2"]}')
    world.host.create("alpha", "--card", "/etc/cards/alpha.json")
    world.heard()
    return world


@pytest.mark.parametrize("name", ATTEMPTS)
def test_nothing_but_the_proxy_is_reached_by_one_who(arena, name):
    attempt(arena, ATTEMPTS[name])
    assert arena.escaped() == []


def test_the_proxy_knows_who_it_is(arena):
    said = arena.host.inside("alpha", "print(tcp(GATEWAY, 3128), end='')").stdout
    assert said == "you are 10.200.0.2\n"
    said = arena.host.inside("beta", "print(tcp(GATEWAY, 3128), end='')").stdout
    assert said == "you are 10.200.0.3\n"


def test_unreachable_places_are_refused_at_once_rather_than_awaited(arena):
    said = arena.host.inside("alpha", "print([tcp(a, p) for a, p in ((OUTSIDE, 443), (METADATA, 80), ('10.200.0.3', 1))])")
    error = "ECONNREFUSED" if arena.agents["alpha"]["captured"] else "ENETUNREACH"
    assert said.stdout == f"{[error] * 3}\n"


def test_everything_refused_is_counted_for_the_agent_that_sent_it(arena):
    before = arena.host.agents()
    arena.host.inside("alpha", "for _ in range(25): send_frame(udp4(own_address(), OUTSIDE, 443))")
    def is_counted():
        return arena.host.agents()["alpha"]["refused_packets"] - before["alpha"]["refused_packets"] >= 25
    wait_until(is_counted, "every packet counted")
    after = arena.host.agents()
    assert after["alpha"]["refused_packets"] - before["alpha"]["refused_packets"] == 25
    assert after["beta"]["refused_packets"] == before["beta"]["refused_packets"]
    assert after["alpha"]["refused_bytes"] - before["alpha"]["refused_bytes"] >= 25 * 28


def test_connections_of_an_agent_take_no_place_among_those_that_the_host_tracks(arena):
    """There is one table for the whole host, and a few agents have as many ports as it has places."""
    host = arena.host
    host.nft("add table inet theirs\n"
             "add chain inet theirs input { type filter hook input priority 0; policy drop; }\n"
             "add rule inet theirs input iif lo accept\n"
             "add rule inet theirs input ct state established,related accept\n"
             "add rule inet theirs input tcp dport 3128 accept\n")
    def tracked():
        return int(host.sysctl("net.netfilter.nf_conntrack_count"))
    try:
        said = host.inside("alpha", """
held = [socket.create_connection((GATEWAY, 3128)) for _ in range(200)]
print(tcp(GATEWAY, 3128, seconds=20), end='')
""").stdout
        assert said == "you are 10.200.0.2\n"
        assert tracked() < 100
        host.run("/usr/bin/python3", "-c", "import socket\nfor port in range(1000, 1200): "
                 "socket.socket(2, 2).sendto(b'x', ('127.0.0.1', port))")
        assert tracked() >= 100  # it would have been seen
    finally:
        host.nft("delete table inet theirs")


def test_fragments_of_an_agent_take_no_memory_of_the_host(arena):
    """The host keeps them, for all networks together, until the rest of a packet arrives."""
    arena.host.inside("alpha", """
first = syn4(own_address(), GATEWAY, 3128)[20:]
def fragment(number):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(first), number, 0x2000, 64, 6, 0,
                       socket.inet_aton(own_address()), socket.inet_aton(GATEWAY))
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + first
for number in range(200):
    send_frame(fragment(number))
send_frame(syn4(own_address(), OUTSIDE, 443))  # the last one; it is counted
""")
    wait_until(lambda: arena.host.agents()["alpha"]["refused_packets"] >= 1, "all packets taken")
    memory = arena.host.run("grep", "FRAG", "/proc/net/sockstat").stdout
    assert memory == "FRAG: inuse 0 memory 0\n"


def test_neighbours_of_the_host_stay_as_they_were(arena):
    before = sorted(arena.host.run("ip", "neigh").stdout.splitlines())
    attempt(arena, ATTEMPTS["plays games with ARP"])
    attempt(arena, ATTEMPTS["takes another agent's address"])
    assert [line for line in sorted(arena.host.run("ip", "neigh").stdout.splitlines()) if "stile-" in line] == \
        [line for line in before if "stile-" in line]


def test_a_stranger_cannot_reach_the_gateway_or_pose_as_an_agent(arena):
    world = arena
    world.outside.run("ip", "route", "replace", "10.200.0.0/16", "via", "198.51.100.2")
    code = """
import socket
for source, target, port in (("198.51.100.1", "10.200.0.1", 3128), ("198.51.100.1", "10.200.0.2", 3128)):
    s = socket.socket(); s.settimeout(0.3)
    try: s.bind((source, 0)); s.connect((target, port)); print("reached", target)
    except OSError: pass
"""
    assert world.outside.run("/usr/bin/python3", "-c", code).stdout == ""
    world.outside.run("ip", "addr", "add", "10.200.0.2/32", "dev", "lo")
    forged = """
import socket
for target in ("198.51.100.2", "10.200.0.1"):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("10.200.0.2", 0)); s.sendto(b"ESCAPE", (target, 5353))
"""
    world.outside.run("/usr/bin/python3", "-c", forged)
    world.outside.run("ip", "addr", "del", "10.200.0.2/32", "dev", "lo")
    assert [event for event in world.heard() if event["sensor"] != "outside"] == []


def test_a_process_of_the_host_cannot_pose_as_an_agent(arena):
    code = """
import socket
s = socket.socket(); s.settimeout(0.3)
s.setsockopt(0, 15, 1); s.setsockopt(0, 19, 1)  # IP_FREEBIND, IP_TRANSPARENT
s.bind(("10.200.0.2", 0))
try: s.connect(("10.200.0.1", 3128)); print("reached")
except OSError: pass
"""
    assert arena.host.run("/usr/bin/python3", "-c", code).stdout == ""
    assert arena.heard() == []


def test_the_host_itself_sends_agents_nothing_but_the_proxys_answers(arena):
    arena.host.run("ping", "-c1", "-W1", "10.200.0.3", check=False)
    send = ("import socket\nfor port in (53, 7000): socket.socket(2, 2).sendto(b'ESCAPE', ('10.200.0.3', port))\n")
    arena.host.run("/usr/bin/python3", "-c", send, check=False)
    assert [event for event in arena.heard() if event["sensor"] == "beta"] == []


def test_sensors_hear_what_gets_out_where_there_is_no_fence():
    """The control: the same attempts succeed once the fence is taken away."""
    world = World()
    try:
        host = world.host
        host.nft("flush ruleset")
        host.sysctl("net.ipv4.ip_forward", 1)
        for name in ("all", host.device("alpha"), host.device("beta")):
            host.sysctl(f"net.ipv4.conf.{name}.rp_filter", 0)
        host.inside_as_host_root("alpha", "other = '10.200.0.3'\n" + ATTEMPTS["connects to everything"])
        expected = {("outside", "tcp", 443), ("outside", "udp", 53), ("outside", "tcp", 80), ("outside", "packet", None),
                    ("beta", "packet", None), ("host", "tcp", 8080), ("host", "tcp", 9128), ("host", "udp", 53)}
        world.wait_to_hear(lambda events: expected <= {
            (event["sensor"], event["kind"], event.get("port")) for event in events})
    finally:
        world.close()
