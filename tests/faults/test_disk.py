"""A disk that is full, broken or slow: no egress without its line, no change that is half made."""

import pytest
from harness.wait import until
from invariants import Invariants
from scene import Scene


def run_until(scene, call, least, action):
    def enough():
        action()
        return scene.faults.injected(call) >= least
    until(enough, 40, f"{least} faults of {call}")
    scene.faults.off()


@pytest.mark.parametrize("outcomes", [("ENOSPC",), ("EIO", "EINTR"), ("short", "ENOSPC")], ids="-".join)
def test_log_that_cannot_be_written(world, outcomes):
    scene = Scene(world)
    invariants = Invariants(scene)
    scene.faults.on("write", *outcomes, rate=0.6, threads="workers")
    run_until(scene, "write", 40, lambda: scene.round(14))
    invariants.hold()


def test_log_on_a_dead_disk_lets_nothing_out(world):
    scene = Scene(world)
    invariants = Invariants(scene)
    scene.faults.on("write", "EIO")
    outcomes = scene.round(28)
    scene.faults.off()
    assert outcomes["served"] == 0, outcomes
    invariants.hold()


def test_slow_disk_delays_and_changes_nothing(world):
    scene = Scene(world)
    invariants = Invariants(scene)
    scene.faults.on("write", "goes on", delay_ms=100)
    outcomes = scene.round(28, threads=14)
    assert scene.faults.injected("write") > 0
    scene.faults.off()
    assert set(outcomes) == {"served", "refused"}, outcomes
    invariants.hold()


def grants_of(control):
    return {grant["id"] for grant in control.do("agent", agent="alpha")["agent"]["grants"]}


@pytest.mark.parametrize("call, outcomes", [
    ("open", ("ENOSPC", "EMFILE", "EIO")), ("write", ("ENOSPC", "EIO")), ("fsync", ("EIO", "ENOSPC")),
    ("rename", ("EIO", "ENOSPC"))], ids=lambda value: value if isinstance(value, str) else "")
def test_change_that_cannot_be_saved_is_undone(world, call, outcomes):
    """Whatever was answered is what holds, now and after a restart."""
    scene = Scene(world)
    invariants = Invariants(scene)
    held = set()
    scene.faults.on(call, *outcomes, rate=0.4)
    with scene.proxy.control() as control:
        def change():
            answer = control.ask("allow", agent="alpha", hosts=["granted.test"])
            if answer["ok"]:
                held.add(answer["grant"])
            else:
                assert answer["error"]["code"] == "internal", answer
        run_until(scene, call, 10, change)
        assert grants_of(control) == held
        held.add(control.do("allow", agent="alpha", hosts=["late.test"])["grant"])
    invariants.hold()
    scene.proxy.kill()
    scene.start()
    with scene.proxy.control() as control:
        assert grants_of(control) == held


def test_kill_switch_works_on_a_full_disk(world):
    """What takes something away needs no disk; an operator must be able to end egress at any time."""
    scene = Scene(world)
    invariants = Invariants(scene)
    for call in ("open", "write", "fsync", "rename"):
        scene.faults.on(call, "ENOSPC")
    with scene.proxy.control() as control:
        assert "in force but not saved" in control.refused("mode", mode="offline")["message"]
        scene.faults.off()
        answer = scene.proxy.get(f"http://plain.test:{world.http_port}/offline")
        assert answer.reason == "offline", answer
        # And it holds over a restart, as soon as there is a disk again.
        state = world.folder / "state/state.json"
        until(lambda: state.exists() and "offline" in state.read_text(), 20, "the saved mode")
        scene.proxy.kill()
        scene.start()
    assert scene.proxy.get(f"http://plain.test:{world.http_port}/offline").reason == "offline"
    with scene.proxy.control() as control:
        control.do("mode", mode="enforce")
    invariants.hold()


def test_slow_fsync_holds_up_nobody(world):
    scene = Scene(world)
    invariants = Invariants(scene)
    scene.faults.on("fsync", "goes on", delay_ms=3000, most=1)
    with scene.proxy.control() as control:
        control.send("allow", agent="alpha", hosts=["granted.test"])
        until(lambda: scene.faults.injected("fsync") == 1, 20, "the fsync")
        outcomes = scene.round(14)
        assert set(outcomes) == {"served", "refused"}, outcomes
        assert control.read()["ok"]
    scene.faults.off()
    invariants.hold()

