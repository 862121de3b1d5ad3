"""A core of the daemon, searched for the values of its secrets.

The daemon never dumps its core. Here it is made to, because another way to its memory would show the same.
"""

import base64
import hashlib
import resource
import signal
import struct
from pathlib import Path

import pytest
from harness.inside import Inside
from harness.wait import until
from injection import Injection, is_sanitized

FILE_VALUE, BASIC_VALUE, COMMAND_VALUE, ROTATED_VALUE = (
    hashlib.sha256(name).hexdigest() for name in (b"file", b"basic", b"command", b"rotated"))
PART = 16  # memory that was freed begins with bytes of the allocator
CORE_PATTERN = Path("/proc/sys/kernel/core_pattern")


@pytest.fixture
def keyed(world):
    if is_sanitized():
        pytest.skip("a sanitizer keeps freed memory, and reserves terabytes")
    if (pattern := CORE_PATTERN.read_text().strip()) != "core":
        pytest.skip(f"cores of this host go elsewhere: {pattern}")
    world.origins = {name: world.tls_origin(name) for name in ("a.test", "b.test", "c.test")}
    world.secret("file", FILE_VALUE, ["a.test"], header="X-Api-Key")
    world.secret("basic", BASIC_VALUE, ["b.test"], header="Authorization", basic_user="x-access-token")
    printed = world.write("secret-printed", COMMAND_VALUE + "\n")
    printed.chmod(0o600)
    world.secrets.append({"name": "command", "command": ["/bin/cat", str(printed)], "refresh_seconds": 1,
                          "hosts": ["c.test"], "header": "Authorization", "format": "Bearer {}"})
    world.agent("alpha", allow=list(world.origins), secrets=["file", "basic", "command"])
    return world


def start_that_can_dump(world):
    # It may write files below its state only.
    proxy = world.proxy(server={"state_dir": str(world.folder)})

    def no_limit():
        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    faults = Injection(Path(world.folder) / "faults")
    proxy.start(preexec=no_limit, environment={**faults.environment(), "STILE_FAULTS_DUMP": "1"})
    return proxy


def core_of(world, proxy):
    proxy.signal(signal.SIGABRT)
    proxy.expected_exit = {-signal.SIGABRT}
    proxy.wait_exit(60)
    cores = [path for path in Path(world.folder).iterdir() if path.name.split(".")[0] == "core"]
    if not cores:
        pytest.skip("no core was written: its size is limited here")
    return cores[0].read_bytes()


def memory_of(core):
    """What was in memory; the notes of a core hold registers."""
    first, = struct.unpack_from("<Q", core, 32)
    count, = struct.unpack_from("<H", core, 56)
    headers = [struct.unpack_from("<IIQQQQ", core, first + 56 * number) for number in range(count)]
    return b"\0".join(core[offset:offset + size] for kind, _, offset, _, _, size in headers if kind == 1)


def parts_in(memory, text):
    """Which parts of a text are there: a copy that was freed is not whole any more."""
    parts = [text[at:at + PART] for at in range(0, len(text) - PART + 1, 4)]
    return [part for part in parts if part.encode() in memory]


def test_no_value_is_in_a_core_after_it_was_used(keyed):
    proxy = start_that_can_dump(keyed)
    bodies = {"GET": None, "POST": b"x" * 100_000}
    for host in keyed.origins:
        inside = Inside(keyed, proxy, host)
        for method, body in bodies.items():
            assert inside.ask(method, "/v1", ["X-Filler: " + "y" * 3000], body).status == 200
    assert keyed.origins["a.test"].requests[0].values("x-api-key") == [FILE_VALUE]
    assert keyed.origins["c.test"].requests[0].values("authorization") == [f"Bearer {COMMAND_VALUE}"]
    with proxy.control() as control:
        control.do("reload")

    Path(keyed.secrets[0]["file"]).write_text(ROTATED_VALUE)
    inside = Inside(keyed, proxy, "a.test")

    def is_rotated():
        assert inside.get("/v1").status == 200
        return keyed.origins["a.test"].requests[-1].values("x-api-key") == [ROTATED_VALUE]
    until(is_rotated)
    assert inside.get("/last").status == 200
    proxy.audit.wait_one(event="close", path="/last")
    core = core_of(keyed, proxy)
    assert core.startswith(b"\x7fELF") and b"x-access-token" in core and b"a.test" in core
    memory = memory_of(core)
    found = {name: parts_in(memory, text) for name, text in {
        "file": FILE_VALUE, "rotated": ROTATED_VALUE, "basic": BASIC_VALUE, "command": COMMAND_VALUE,
        "basic, encoded": base64.b64encode(f":{BASIC_VALUE}".encode()).decode()}.items()}
    assert not any(found.values()), found


def test_no_value_is_in_the_environment_of_the_daemon_or_its_helper(keyed):
    proxy = keyed.start()
    inside = Inside(keyed, proxy, "c.test")
    assert inside.get("/v1").status == 200
    pid = proxy.process.pid
    helpers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    assert helpers, "the process that runs commands"
    for process in [pid, *helpers]:
        for file in ("environ", "cmdline"):
            text = Path(f"/proc/{process}/{file}").read_bytes()
            assert not any(value.encode() in text for value in (FILE_VALUE, BASIC_VALUE, COMMAND_VALUE))
