"""Calls of the kernel that fail under traffic: nothing gets out, nothing is left, service comes back."""

import socket

import pytest
from harness.wait import until
from invariants import Invariants
from scene import Scene

NO_DESCRIPTORS = ("EMFILE", "ENFILE", "ENOBUFS", "ENOMEM")

# What fails: call, errnos, how often, and how many times at least before it is switched off.
FAULTS = {
    "accept": [("accept", (*NO_DESCRIPTORS, "ECONNABORTED", "EINTR", "EAGAIN", "EPROTO"), 0.3, 60)],
    "connect": [("connect", ("ENOBUFS", "EADDRNOTAVAIL", "ENETUNREACH", "ECONNREFUSED", "ETIMEDOUT",
                             "EINTR", "ENOMEM", "EAGAIN"), 0.3, 40)],
    "socket": [("socket", NO_DESCRIPTORS, 0.3, 40)],
    "pipe": [("pipe", NO_DESCRIPTORS, 1, 20)],
    "recv": [("recv", ("ECONNRESET", "ENOMEM", "EIO", "ETIMEDOUT"), 0.05, 40)],
    "recv that dribbles": [("recv", ("EINTR", "EAGAIN", "short"), 0.5, 400)],
    "send": [("send", ("ECONNRESET", "EPIPE", "ENOBUFS", "ENOMEM"), 0.05, 40)],
    "send that dribbles": [("send", ("EINTR", "EAGAIN", "short"), 0.5, 400)],
    "splice": [("splice", ("ECONNRESET", "ENOMEM", "EIO", "EINVAL"), 0.1, 20)],
    "splice that dribbles": [("splice", ("EINTR", "EAGAIN", "short"), 0.5, 100)],
    "epoll_wait": [("epoll_wait", ("EINTR",), 0.5, 200)],
    "epoll_ctl": [("epoll_add", ("ENOMEM", "ENOSPC"), 0.3, 60)],
    "everything a little": [
        ("accept", ("EMFILE", "ECONNABORTED"), 0.05, 0), ("connect", ("ENOBUFS",), 0.05, 0),
        ("recv", ("ECONNRESET", "EAGAIN", "short"), 0.02, 0), ("socket", ("EMFILE",), 0.05, 0),
        ("send", ("ECONNRESET", "EAGAIN", "short"), 0.02, 0), ("splice", ("EIO", "short"), 0.05, 0),
        ("epoll_add", ("ENOMEM",), 0.05, 0), ("epoll_wait", ("EINTR",), 0.2, 100)],
}


@pytest.mark.parametrize("rules", FAULTS.values(), ids=FAULTS.keys())
def test_call_that_fails(world, rules):
    # Pipes are kept: once some are there, few are asked for.
    scene = Scene(world, warm_up=0 if rules[0][0] == "pipe" else 32, dns={"timeout_ms": 1500})
    invariants = Invariants(scene)
    for call, errnos, rate, _ in rules:
        scene.faults.on(call, *errnos, rate=rate)

    def enough():
        scene.round(28)
        return all(scene.faults.injected(call) >= least for call, _, _, least in rules)
    until(enough, 40, "so many faults")
    scene.faults.off()
    invariants.hold()


PATIENT = {"header_timeout_ms": 120000, "idle_timeout_ms": 120000}


def test_refusal_that_cannot_be_sent_ends_the_connection(world):
    """Whatever followed it would be taken for its end."""
    scene = Scene(world, limits=PATIENT)
    invariants = Invariants(scene)
    with scene.client() as client:
        scene.faults.on("send", "ENOBUFS", threads="workers", most=1)
        client.send(f"GET http://evil.test:{world.http_port}/ HTTP/1.1\r\nHost: evil.test:{world.http_port}\r\n\r\n"
                    .encode())
        assert client.is_closed(30)
    scene.faults.off()
    invariants.hold()


def test_upload_that_cannot_be_sent_ends_the_exchange(world):
    """The origin would wait for the rest, and the client for the origin."""
    scene = Scene(world, limits=PATIENT)
    invariants = Invariants(scene)
    scene.asked.add("/half")
    with scene.client() as client:
        client.send(f"POST http://plain.test:{world.http_port}/half HTTP/1.1\r\n"
                    f"Host: plain.test:{world.http_port}\r\nContent-Length: 10\r\n\r\n".encode())
        until(lambda: "/half" in scene.plain.paths(), 20, "the head at the origin")
        scene.faults.on("send", "ENOBUFS", threads="workers", most=2)  # it is tried twice
        client.send(b"0123456789")
        client.sock.settimeout(30)
        assert client.read_response("POST").reason == "origin-bad-response"
    scene.faults.off()
    invariants.hold()


def test_lent_listener_that_cannot_be_watched_ends_nobody_else(world):
    scene = Scene(world)
    invariants = Invariants(scene)
    with scene.proxy.control() as control, socket.create_server((world.site.address(4), 0)) as listener:
        scene.faults.on("epoll_add", "ENOMEM", threads="workers", most=1)
        control.send("adopt-listener", descriptor=listener.fileno(), agent="alpha")
        control.read()
        until(lambda: scene.faults.injected("epoll_add") == 1, 20, "the refusal")
        scene.faults.off()
        scene.round(7)
    invariants.hold()
