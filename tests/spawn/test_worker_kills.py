"""Whatever is killed, at whatever moment: nothing of a worker is left, and no worker is ever without its fence."""

import json
import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent / "kills_inside.py"


@pytest.mark.long
def test_kills_at_random_moments(machine):
    seed, kills = os.environ.get("STILE_KILL_SEED", "1"), os.environ.get("STILE_KILLS", "25")
    machine.path("/srv/kills.py").write_text(SCRIPT.read_text())
    done = subprocess.run(machine.command("python3", "/srv/kills.py", seed, kills, "0.5"), capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    print(seen)
    assert seen["problems"] == [], seen
    assert sum(seen["kills"].values()) == int(kills) and seen["workers"] > 0
    # And it still works.
    assert machine.ask({"action": "spawn", "task_id": "alpha", "workspace": "/mnt/agents"}).get("status") == "spawned"
    check = machine.run("/opt/stile/stile-netns", "check", "alpha", check=False)
    assert check.returncode == 0, check.stdout
    assert machine.ask({"action": "terminate", "task_id": "alpha"})["status"] == "terminated"
