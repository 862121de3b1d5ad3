# What the attempts to get out have in common. Runs inside an agent's namespaces, before their code.
import ctypes
import errno
import fcntl
import os
import socket
import struct
import subprocess
import sys
import time

GATEWAY, OUTSIDE, METADATA = "10.200.0.1", "192.0.2.1", "169.254.169.254"
MARK = b"ESCAPE"


def sh(command, check=False):
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    if check and done.returncode:
        sys.exit(f"{command}: {done.stdout}{done.stderr}")
    return done


def tcp(address, port, source=None, seconds=0.2, family=socket.AF_INET):
    """What a peer says, or the name of the error."""
    with socket.socket(family) as conn:
        conn.settimeout(seconds)
        try:
            if source:
                conn.bind((source, 0))
            conn.connect((address, port))
            conn.sendall(MARK + f" tcp {address} {port}\n".encode())
            return conn.recv(200).decode()
        except TimeoutError:
            return "silence"
        except OSError as problem:
            return errno.errorcode.get(problem.errno, str(problem))


def udp(address, port, source=None, family=socket.AF_INET):
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.settimeout(0.1)
        try:
            if source:
                sock.bind((source, 0))
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            sock.sendto(MARK + f" udp {address} {port}".encode(), (address, port))
            return sock.recv(200).decode()
        except TimeoutError:
            return "silence"
        except OSError as problem:
            return errno.errorcode.get(problem.errno, str(problem))


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ip4(source, target, protocol, payload, options=b"", fragment=0):
    words = 5 + len(options) // 4
    head = struct.pack("!BBHHHBBH4s4s", 0x40 | words, 0, words * 4 + len(payload), 7, fragment, 64, protocol, 0,
                       socket.inet_aton(source), socket.inet_aton(target)) + options
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def udp4(source, target, port, **options):
    payload = MARK + f" raw {source} {target} {port}".encode()
    return ip4(source, target, 17, struct.pack("!HHHH", 4444, port, 8 + len(payload), 0) + payload, **options)


def syn4(source, target, port, **options):
    payload = MARK + f" syn {source} {target} {port}".encode()
    part = struct.pack("!HHIIHHHH", 4444, port, 1, 0, 0x5002, 0xffff, 0, 0) + payload
    pseudo = socket.inet_aton(source) + socket.inet_aton(target) + struct.pack("!BBH", 0, 6, len(part))
    part = part[:16] + struct.pack("!H", checksum(pseudo + part)) + part[18:]
    return ip4(source, target, 6, part, **options)


def mac(device="eth0"):
    with open(f"/sys/class/net/{device}/address") as file:
        return bytes.fromhex(file.read().strip().replace(":", ""))


def gateway_mac():
    return bytes([2]) + mac()[1:]


raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)  # kept: closing one makes the kernel wait


def send_frame(payload, kind=0x0800, to=None, source=None, device="eth0"):
    frame = (to or gateway_mac()) + (source or mac(device)) + struct.pack("!H", kind) + payload
    raw.sendto(frame, (device, 0))


OWN_ADDRESS = sh("ip -4 -o addr show dev eth0").stdout.split()[3].split("/")[0]


def own_address():
    return OWN_ADDRESS


def open_route():
    """As much network as root inside can give itself."""
    sh("nft flush ruleset")
    sh("ip route replace default via 10.200.0.1 dev eth0 onlink", check=True)


def every_target(other):
    return [(OUTSIDE, 443), (OUTSIDE, 53), (METADATA, 80), (other, 7000), (GATEWAY, 8080), (GATEWAY, 8081),
            (GATEWAY, 53), (GATEWAY, 9128), (GATEWAY, 22), ("198.51.100.2", 8080), ("198.51.100.1", 443),
            ("127.0.0.1", 8081)]
