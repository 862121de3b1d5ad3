"""A descriptor that takes its last owner as long to close as its sender wants."""

import array
import contextlib
import socket
import struct

import pytest

SO_PASSRIGHTS = 83
LINGER_SECONDS = 60


def needs_refusal():
    """Skips where the kernel cannot refuse descriptors, before Linux 6.16."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.setsockopt(socket.SOL_SOCKET, SO_PASSRIGHTS, 0)
        except OSError:
            pytest.skip("this kernel has no SO_PASSRIGHTS (Linux 6.16)")


def linger(sock, seconds):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", seconds > 0, seconds))


@contextlib.contextmanager
def sent_to(path, data):
    """Sends data and a TCP socket to a unix socket. The receiver owns it then, and its peer does not read."""
    with socket.socket() as listener, socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with socket.create_connection(listener.getsockname()) as trap:
            peer, _ = listener.accept()
            trap.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    trap.send(bytes(65536))
            linger(trap, LINGER_SECONDS)
            rights = array.array("i", [trap.fileno()])
            try:
                client.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            except PermissionError:
                linger(trap, 0)
        with peer:
            yield client
