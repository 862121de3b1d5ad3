"""Handover, step by step: what fails leaves the old process serving; nothing is refused meanwhile."""

import os
import random
import signal
import socket
import struct
import threading

import pytest
from harness.hello import hello_for
from harness.origin import echo
from harness.wait import until


@pytest.fixture
def running(world):
    world.tcp_origin("o.test", handler=echo)
    world.http_origin("h.test")
    world.agent("alpha", allow=["o.test", "h.test"])
    proxy = world.start(server={"workers": 2}, limits={"drain_timeout_ms": 20000})
    return proxy, open_echo(world, proxy)


def open_echo(world, proxy):
    client = proxy.open_tunnel("o.test", world.port)
    client.recv_exactly(len(client.hello))
    return client


def assert_serves(world, proxy, client):
    client.send(b"still here")
    assert client.recv_exactly(10) == b"still here"
    open_echo(world, proxy).close()


def test_a_request_that_is_being_set_up_becomes_a_tunnel_that_moves(world, running):
    proxy, _ = running
    client = proxy.tunnel("o.test", world.port)  # answered with 200; its hello is missing
    old = proxy.take_over()
    assert old.poll() is None
    hello = hello_for("o.test")
    client.send(hello)
    assert client.recv_exactly(len(hello)) == hello
    assert old.wait(10) == 0  # long before the end of its drain time
    client.send(b"more")
    assert client.recv_exactly(4) == b"more"


def test_a_kept_connection_is_served_and_then_closed_by_the_old_process(world, running):
    proxy, _ = running
    url = f"http://h.test:{world.http_port}/"
    client = proxy.client()
    assert client.get(url).status == 200
    old = proxy.take_over()
    answer = client.get(url)
    assert answer.status == 200 and answer.value("Connection") == "close"
    assert old.wait(10) == 0
    assert len(proxy.audit.wait_count(2, event="close", method="GET")) == 2


def test_no_connection_is_refused_meanwhile(world, running):
    proxy, client = running
    stopped, problems, count = threading.Event(), [], [0]

    def connect_all_the_time():
        while not stopped.is_set():
            try:
                with open_echo(world, proxy):
                    count[0] += 1
            except Exception as error:
                problems.append(error)
    threads = [threading.Thread(target=connect_all_the_time) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(4):
        proxy.take_over()
        before = count[0]
        until(lambda: count[0] > before + 5)
    stopped.set()
    for thread in threads:
        thread.join()
    assert not problems, problems
    assert_serves(world, proxy, client)
    assert not proxy.audit.entries(event="deny")


def test_a_new_process_with_a_bad_config_changes_nothing(world, running):
    proxy, client = running
    good = dict(proxy.settings["limits"])
    proxy.settings["limits"]["nonsense"] = 1
    assert proxy.taker().wait(20) == 1
    proxy.settings["limits"] = good
    assert_serves(world, proxy, client)


def assert_refused_then_taken_over(world, proxy, client, section, change):
    before = dict(proxy.settings[section])
    proxy.settings[section].update(change)
    assert proxy.taker().wait(20) == 1
    proxy.settings[section] = before
    until(lambda: "not handed over" in proxy.log_text())
    assert_serves(world, proxy, client)
    proxy.take_over()
    assert_serves(world, proxy, client)


def test_another_log_is_refused(world, running):
    assert_refused_then_taken_over(world, *running, "audit", {"chain": False})


def test_a_new_listener_that_cannot_be_bound_changes_nothing(world, running):
    proxy, _ = running
    with socket.create_server((world.site.address(1), 0)) as busy:
        taken = f"{world.site.address(1)}:{busy.getsockname()[1]}"
        assert_refused_then_taken_over(world, *running, "server", {"listen": [proxy.listen, taken]})


def test_without_a_running_daemon_it_says_so(world):
    proxy = world.proxy()
    taker = proxy.taker()
    assert taker.wait(20) == 1
    assert "no daemon at" in proxy.log_text()


class Fake:
    """A process that says what the test wants to the running daemon."""

    def __init__(self, proxy):
        self.mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.mine.settimeout(15)
        self.control = proxy.control()
        self.control.send("take-over", descriptor=its.fileno())
        its.close()
        self.answer = self.control.read()

    @staticmethod
    def message(kind, first=0, second=0):
        return struct.pack("<BQQBBIIII", kind, first, second, 0, 0, 0, 0, 0, 0)

    def say(self, *message):
        self.mine.send(self.message(*message))

    def hear(self):
        data, descriptors, _, _ = socket.recv_fds(self.mine, 300000, 253)
        for fd in descriptors:
            os.close(fd)
        return data[0] if data else None

    def hear_until(self, kind):
        while (heard := self.hear()) not in (kind, None):
            pass
        return heard


HELLO, REFUSE, OFFER, OFFERED, FREEZE, FROZEN, READY, COMMIT, SERVING = 1, 2, 3, 5, 6, 7, 8, 10, 11


def commits(proxy):
    """A process that could serve: the other one waits for its word."""
    fake = Fake(proxy)
    fake.say(HELLO, 1, 1)
    assert fake.hear_until(OFFERED) == OFFERED
    fake.say(FREEZE)
    assert fake.hear_until(FROZEN) == FROZEN
    mine, its = socket.socketpair()
    with mine, its:
        socket.send_fds(fake.mine, [fake.message(READY)], [its.fileno()])
    assert fake.hear_until(COMMIT) == COMMIT
    return fake


def test_a_process_that_dies_in_the_moment_before_it_serves_changes_nothing(world, running):
    proxy, client = running
    with proxy.control() as control:
        commits(proxy).mine.close()
        assert_serves(world, proxy, client)
        control.do("status")
    proxy.take_over()
    assert_serves(world, proxy, client)
    proxy.audit.verify()


def test_a_process_that_is_too_late_to_serve_cannot(world, running):
    """Both know that the old one goes on."""
    proxy, client = running
    fake = commits(proxy)
    assert fake.hear() == REFUSE
    with pytest.raises(OSError):
        fake.say(SERVING)
    assert_serves(world, proxy, client)
    assert "did not answer in time" in proxy.log_text()


def test_an_unknown_format_is_refused(world, running):
    proxy, client = running
    fake = Fake(proxy)
    assert fake.answer["ok"]
    fake.say(HELLO, 7, 9)
    assert fake.hear() == REFUSE
    assert fake.hear() is None
    assert "formats 7 to 9" in proxy.log_text()
    assert_serves(world, proxy, client)
    proxy.take_over()
    assert_serves(world, proxy, client)


@pytest.mark.parametrize("chosen", [0, 2, 9])
def test_an_offer_in_a_format_that_was_not_named_is_refused(world, chosen):
    """The process that takes over ends, and says why; the other one sees that it is gone."""
    proxy = world.proxy()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(proxy.settings["server"]["control"])
        listener.listen()
        taker = proxy.taker()
        control, _ = listener.accept()
        _, descriptors, _, _ = socket.recv_fds(control, 1000, 1)
        control.sendall(b'{"ok":true}\n')
        with socket.socket(fileno=descriptors[0]) as link, control:
            hello = struct.unpack_from("<BQQ", link.recv(300000))
            assert hello[0] == HELLO and not hello[1] <= chosen <= hello[2]
            link.send(Fake.message(OFFER, chosen))
            assert taker.wait(20) == 1
            assert link.recv(1000) == b""
    assert "it chose a format that this program does not know" in proxy.log_text()


@pytest.mark.parametrize("steps", range(4))
def test_a_process_that_leaves_at_any_step_changes_nothing(world, running, steps):
    proxy, client = running
    fake = Fake(proxy)
    with proxy.control() as waiting:
        if steps > 0:
            fake.say(HELLO, 1, 1)
            assert fake.hear_until(OFFERED) == OFFERED
        if steps > 1:
            fake.say(FREEZE)
            assert fake.hear_until(FROZEN) == FROZEN
            waiting.send("revoke", agent="alpha", hosts=["h.test"])  # answered when this is over
        if steps > 2:
            fake.say(FREEZE)  # not its turn
            assert fake.hear() == REFUSE
        fake.mine.close()
        if steps > 1:
            assert waiting.read()["ok"]
    until(lambda: "not handed over" in proxy.log_text())
    assert_serves(world, proxy, client)
    proxy.take_over()
    assert_serves(world, proxy, client)


def test_two_at_the_same_time_are_refused(world, running):
    proxy, client = running
    first, second = Fake(proxy), Fake(proxy)
    assert first.answer["ok"] and second.answer["error"]["code"] == "conflict"
    first.mine.close()
    assert_serves(world, proxy, client)


def test_a_change_that_comes_in_the_middle_is_made_by_the_new_process(world, running):
    proxy, client = running
    taker = proxy.taker()
    with proxy.control() as control:
        done = control.do("revoke", agent="alpha", hosts=["o.test"])
    until(lambda: "taken over from" in proxy.log_text(), 20)
    proxy.before.append(proxy.process)
    proxy.process = taker
    client.recv_to_end(10)
    assert done["ok"] and proxy.audit.wait_one(event="close")["reason"] == "revoked"


def test_a_kill_of_either_process_at_any_moment_leaves_a_whole_log(world, running):
    """One of the two serves afterwards or can be started; revocations hold, the chain is whole."""
    proxy, _ = running
    dice = random.Random(18)
    for number in range(10):
        open_echo(world, proxy)
        taker = proxy.taker()
        victim = taker if number % 2 else proxy.process
        try:
            victim.wait(dice.uniform(0, 0.25))
        except Exception:
            victim.send_signal(signal.SIGKILL)
        survivors = [one for one in (taker, proxy.process) if one is not victim]
        victim.wait(10)

        def one_serves():
            for one in survivors:
                if one.poll() is None:
                    try:
                        open_echo(world, proxy).close()
                        return True
                    except (OSError, AssertionError):
                        return False
            return "none"
        outcome = until(one_serves, 40)
        if outcome == "none":
            proxy.start()
        else:
            proxy.process = survivors[0]
        proxy.audit.verify()
    proxy.before.clear()
