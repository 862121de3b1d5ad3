"""A machine whose daemon gets new programs while tunnels run through it: fixtures and steps."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from harness.hello import hello_for

SCRIPTS = ("tunnels_inside.py", "plain_inside.py")
CARD = {"id": "alpha", "source": ["127.0.0.9"], "allow": ["origin.test", "http://origin.test:8080"],
        "private_exceptions": ["127.0.0.2/32"]}
UNIT = "stiled.service"
TUNNELS = 20


def property_of(machine, name):
    return machine.run("systemctl", "show", "--value", f"--property={name}", UNIT).stdout.strip()


def main_pid(machine):
    return int(property_of(machine, "MainPID"))


def replace_program(machine, content=None):
    """As a package manager does: another file under the same name."""
    place = machine.path("/opt/stile/stiled")
    fresh = place.with_suffix(".new")
    shutil.copy(place, fresh)
    if content:
        fresh.write_text(content)
    fresh.rename(place)


class Plain:
    """A request over plain HTTP, whose answer waits: it cannot move to another process."""

    def __init__(self, host):
        self.process = subprocess.Popen(host.command("python3", "/opt/stile/plain_inside.py"), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def finish(self):
        assert self.process.communicate(timeout=30)[0] == "whole\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


@pytest.fixture(scope="module")
def host(machine):
    for script in SCRIPTS:
        shutil.copy(Path(__file__).resolve().parent / script, machine.path(f"/opt/stile/{script}"))
    with machine.path("/etc/hosts").open("a") as hosts:
        hosts.write("127.0.0.2 origin.test\n")
    machine.path("/etc/stile/agents.d/alpha.json").write_text(json.dumps(CARD))
    machine.run("systemctl", "restart", UNIT)
    return machine


@pytest.fixture
def tunnels(host):
    """Tunnels that run; calling it ends them and checks every byte."""
    command = host.command("python3", "/opt/stile/tunnels_inside.py", hello_for("origin.test").hex(), str(TUNNELS))
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n", host.journal(UNIT)

    def finish():
        said = json.loads(process.communicate(timeout=60)[0])
        assert (said["problems"], said["same"], said["at_origin"]) == ([], TUNNELS, True), (said, host.journal(UNIT))
        return said["bytes"]
    yield finish
    if process.poll() is None:
        process.kill()
        process.wait()
