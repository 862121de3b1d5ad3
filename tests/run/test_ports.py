"""--publish and --host-port: these ports lead through the fence, and nothing else comes with them."""

import errno
import hashlib
import json
import socket
import subprocess
import threading

import pytest
from harness.stiled import build_folder
from harness.wait import until

SERVER = """
import hashlib, socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("ready", flush=True)
for _ in range(int(sys.argv[2])):
    conn, _ = listener.accept()
    digest, size = hashlib.sha256(), 0
    while data := conn.recv(65536):
        digest.update(data); size += len(data)
    conn.sendall(f"{size} {digest.hexdigest()}".encode() + b"x" * size)
    conn.close()
"""
ASK = """
import hashlib, socket, sys
sent = b"inside" * 100000
sock = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20)
sock.sendall(sent); sock.shutdown(socket.SHUT_WR)
answer = b""
while data := sock.recv(65536):
    answer += data
print(answer.startswith(f"{len(sent)} {hashlib.sha256(sent).hexdigest()}".encode()), len(answer))
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return sock.getsockname()[1]


@pytest.fixture
def service():
    """A program of the host: answers with the size and the hash of what it got, and as many bytes."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                conn, _ = listener.accept()
            except OSError:
                return
            data = b""
            while piece := conn.recv(65536):
                data += piece
            conn.sendall(f"{len(data)} {hashlib.sha256(data).hexdigest()}".encode() + b"x" * len(data))
            conn.close()
    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def ask(port, data):
    with socket.create_connection(("127.0.0.1", port), 20) as sock:
        sock.sendall(data)
        sock.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := sock.recv(65536):
            answer += piece
    return answer


def is_closed(port):
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == errno.ECONNREFUSED


def test_a_port_of_the_host_is_there_inside(fence, service):
    audit = fence.write("audit.jsonl", "")
    script = fence.write("ask.py", ASK)
    command = ["/usr/bin/python3", script, str(service)]
    done = fence.run("--host-port", service, "--audit", audit, command=command)
    assert done.out == f"True {600000 + len('600000 ') + 64}\n", done
    lines = [json.loads(line) for line in open(audit)]
    assert f"127.0.0.1:{service} of the command leads to this host" in \
        [line["detail"] for line in lines if line["event"] == "policy"]
    # Without the flag there is nothing.
    assert "ConnectionRefusedError" in fence.run(command=command).err


@pytest.mark.skipif(build_folder().name == "tsan", reason="the thread sanitizer's own thread: setns(2) wants a process with one")
def test_a_port_of_the_command_is_there_outside(fence):
    port = free_port()
    script = fence.write("server.py", SERVER)
    process = fence.start("--publish", port, command=["/usr/bin/python3", script, str(port), "3"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        for data in (b"", b"hello", b"outside" * 200000):
            expected = f"{len(data)} {hashlib.sha256(data).hexdigest()}".encode() + b"x" * len(data)
            assert ask(port, data) == expected
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()
    until(lambda: is_closed(port), 5)  # the relay has ended with the run


@pytest.mark.skipif(build_folder().name == "tsan", reason="the thread sanitizer's own thread: setns(2) wants a process with one")
def test_nothing_of_the_host_comes_inside(fence, service):
    """Neither a socket of the host nor the process that has it."""
    done = fence.python("--publish", free_port(), "--host-port", service, script="""
import os
print(sorted(os.listdir("/proc/self/fd"))[:3], len(os.listdir("/proc/self/fd")))
processes = [name for name in os.listdir("/proc") if name.isdigit()]
print(len(processes))
for process in processes:
    try:
        for fd in os.listdir(f"/proc/{process}/fd"):
            assert int(process) == os.getpid() or not os.readlink(f"/proc/{process}/fd/{fd}").startswith("socket"), fd
    except PermissionError:
        pass
print(len(open("/proc/net/tcp").readlines()) - 1 > 0)""")
    assert done.out == "['0', '1', '2'] 4\n2\nTrue\n", done


def test_other_ports_stay_closed(fence, service):
    other = free_port()
    with socket.create_server(("127.0.0.1", other)):
        script = fence.write("ask.py", ASK)
        done = fence.run("--host-port", service, command=["/usr/bin/python3", script, str(other)])
        assert "ConnectionRefusedError" in done.err


def test_many_connections_at_once(fence, service):
    """More than are relayed at the same time: the others wait."""
    done = fence.python("--host-port", service, script=f"""
import socket
socks = [socket.create_connection(("127.0.0.1", {service}), 20) for _ in range(300)]
for sock in socks:
    sock.sendall(b"x"); sock.shutdown(socket.SHUT_WR)
print(sum(bool(sock.recv(100)) for sock in socks))""")
    assert done.out == "300\n", done


def test_a_client_that_does_not_read_holds_up_no_other(fence, service):
    done = fence.python("--host-port", service, script=f"""
import socket
stuck = socket.create_connection(("127.0.0.1", {service}), 20)
stuck.sendall(b"x" * 3000000); stuck.shutdown(socket.SHUT_WR)  # the answer is as long
other = socket.create_connection(("127.0.0.1", {service}), 20)
other.sendall(b"y"); other.shutdown(socket.SHUT_WR)
print(other.recv(2))""")
    assert done.out == "b'1 '\n", done


def test_it_is_in_the_policy_that_is_printed(fence):
    done = fence.run("--publish", "8080", "--host-port", "11434", "--dry-run", command=["true"])
    assert done.out.endswith("\n# Ports\n127.0.0.1:8080 of this host leads to the command\n"
                             "127.0.0.1:11434 of the command leads to this host\n"), done


def test_a_restriction_without_a_network_has_no_ports(fence, service):
    restriction = fence.write("agent-permissions.json", '{"network": false}')
    for flag in ("--publish", "--host-port"):
        done = fence.run(flag, service, "--restrict", restriction, command=["true"])
        assert done.code == 125 and "--publish and --host-port cannot be used" in done.err, done


def test_errors(fence, service):
    done = fence.run("--publish", service, command=["true"])
    assert done.code == 125 and f"cannot listen on port {service} of this host" in done.err
    for flag in ("--publish", "--host-port"):
        done = fence.run(flag, "3128", command=["true"], config="")
        assert done.code == 2 and "3128 is the port of the command's own proxy" in done.err
    for flags in (["--publish", "0"], ["--host-port", "65536"], ["--publish", "x"],
                  ["--publish", "8080", "--connect", "/run/none.sock"]):
        assert fence.run(*flags, command=["true"], config="").code == 2, flags
