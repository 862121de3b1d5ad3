"""Secrets that a command prints: run by a process beside the daemon, again and again."""

import threading
from pathlib import Path

import pytest
from harness.cli import Operator
from harness.inside import Inside
from harness.wait import until

VALUE = "sk-printed-value-0123456789"


@pytest.fixture
def printed(world):
    """A command that counts its runs and prints a file."""
    world.origin = world.tls_origin("a.test")
    world.text, world.runs = world.write("printed", VALUE + "\n"), world.write("runs", "")
    world.script = world.write("print", f"echo x >> {world.runs}\ncat {world.text}\n")
    world.entry = {"name": "api", "command": ["/bin/sh", str(world.script)], "hosts": ["a.test"],
                   "header": "X-Api-Key"}
    world.secrets.append(world.entry)
    world.agent("alpha", allow=["a.test"], secrets=["api"])
    return world


def last_key(world):
    return world.origin.requests[-1].value("x-api-key") if world.origin.requests else None


def helper_of(proxy):
    """Its process id, or None."""
    children = Path(f"/proc/{proxy.process.pid}/task/{proxy.process.pid}/children").read_text().split()
    return next((child for child in children
                 if Path(f"/proc/{child}/comm").read_text() == "stiled-secrets\n"), None)


def test_what_the_command_prints_is_put_in_and_shown_nowhere(printed):
    proxy = printed.start()
    assert Inside(printed, proxy).get("/").status == 200
    assert last_key(printed) == VALUE
    for path in Path(printed.folder).rglob("*"):
        if path.is_file() and path.name != "printed":
            assert VALUE.encode() not in path.read_bytes(), path
    assert VALUE not in proxy.metrics().text


def test_the_helper_has_nothing_of_the_daemon_and_ends_with_it(printed):
    proxy = printed.start()
    helper = helper_of(proxy)
    assert helper and len(list(Path(f"/proc/{helper}/fd").iterdir())) == 4
    assert "Seccomp:\t2" in Path(f"/proc/{proxy.process.pid}/status").read_text()
    proxy.kill()
    until(lambda: not Path(f"/proc/{helper}").exists(), 20, "the end of the helper")


def test_without_a_command_there_is_no_helper(world):
    world.agent("alpha", request=[{"host": "a.test"}])
    assert helper_of(world.start()) is None


@pytest.mark.parametrize("script, problem", [
    ("exit 3", "exited with 3"), ("echo short", "8 bytes"), ("echo two words are here", "visible ASCII"),
    ("head -c 30000 /dev/zero", "more than"), ("kill -9 $$", "signal 9"),
])
def test_a_command_that_fails_stops_the_start(printed, script, problem):
    printed.script.write_text(script + "\n")
    proxy = printed.proxy()
    proxy.start(wait=False)
    assert proxy.wait_exit() == 1
    assert problem in proxy.log_text()
    proxy.expected_exit = {1}


def test_values_change_under_load_without_one_failed_request(printed):
    printed.entry["refresh_seconds"] = 1
    proxy = printed.start()
    failures, seen, stop = [], set(), threading.Event()

    def ask():
        inside = Inside(printed, proxy)
        while not stop.is_set():
            answer = inside.get("/")
            if answer is None or answer.status != 200:
                failures.append(answer)
                return
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for turn in range(3):
            fresh = printed.text.with_name("fresh")
            fresh.write_text(f"sk-value-number-{turn}\n")
            fresh.rename(printed.text)
            until(lambda: last_key(printed) == f"sk-value-number-{turn}", 30, "the next value")
            seen.add(last_key(printed))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures and len(seen) == 3


def test_a_failing_command_keeps_the_old_value_until_it_ends_and_is_loud(printed):
    printed.entry["refresh_seconds"] = 2
    proxy = printed.start()
    inside = Inside(printed, proxy)
    kept = printed.script.read_text()
    printed.script.write_text("exit 3\n")
    until(lambda: "its old value stays in use" in proxy.log_text(), 30, "the first failure")
    assert inside.get("/").status == 200 or "has ended" in proxy.log_text()
    until(lambda: "its old value has ended" in proxy.log_text(), 30, "the end of the value")
    answer = Inside(printed, proxy).get("/")
    assert answer.status == 500 and VALUE not in str(answer)
    line = proxy.audit.wait_one(20, reason="internal-error")
    assert line["detail"] == "a secret of this host has no value"
    operator = Operator(proxy)
    told = operator("audit", "show", "--denied", proxy.audit.path).err
    assert "next: stile secrets" in told and "its command fails" in told and "a bug" not in told
    assert "no value" in operator.does("secrets")
    printed.script.write_text(kept)
    until(lambda: Inside(printed, proxy).get("/").status == 200, 30, "what the note says")
    count = len(printed.origin.requests)
    printed.script.write_text(kept)
    until(lambda: Inside(printed, proxy).get("/").status == 200, 30, "the value")
    assert last_key(printed) == VALUE and len(printed.origin.requests) == count + 1


def reload(proxy):
    proxy.write_config()
    with proxy.control() as control:
        return control.ask("reload")


def test_a_reload_runs_no_command_again(printed):
    proxy = printed.start()
    assert reload(proxy)["ok"] and reload(proxy)["ok"]
    assert printed.runs.read_text() == "x\n"
    assert Inside(printed, proxy).get("/").status == 200
    assert last_key(printed) == VALUE


def test_another_command_needs_a_restart(printed):
    """A daemon that was taken over must not be able to choose what its helper runs."""
    proxy = printed.start()
    command = printed.entry["command"]
    printed.entry["command"] = ["/bin/echo", "sk-another-command"]
    answer = reload(proxy)
    assert not answer["ok"] and "restart" in str(answer)
    assert Inside(printed, proxy).get("/").status == 200 and last_key(printed) == VALUE
    printed.entry["command"] = command
    assert reload(proxy)["ok"]


def test_the_first_command_needs_a_restart(printed):
    printed.secrets.clear()
    printed.agents[0]["secrets"] = []
    proxy = printed.start()
    proxy.settings["secret"] = [printed.entry]
    answer = reload(proxy)
    assert not answer["ok"] and "restart" in str(answer)
