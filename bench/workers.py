#!/usr/bin/env python3
"""What workers cost: the time from a spawn to a running task, and the memory of many idle ones. As root.

    bench/workers.py [--build build/package] [--spawns 30] [--idle 200]

Boots a machine with a real systemd, as tests/spawn does, and works inside it. The comparison is systemd's own start
of a unit that does nothing: it has the same three commands, and tells systemd that it is ready.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests" / "e2e"), str(HERE.parent / "tests" / "spawn")]

SPAWNER_TOML = """\
max_workers = 1000
spawn_cooldown_seconds = 0
[templates.default]
task = ["cat"]
allowed_hosts = ["api.example.com"]
[templates.default.resource_limits]
memory_mb = 256
max_processes = 50
"""

INSIDE = r"""
import json, os, socket, subprocess, sys, time
from pathlib import Path

spawns, idle = int(sys.argv[1]), int(sys.argv[2])

class Spawner:
    def __init__(self):
        self.made = socket.socket(socket.AF_UNIX); self.made.connect("/run/agent-spawner/spawner.sock")
    def ask(self, **request):
        self.made.sendall(json.dumps(request).encode() + b"\n")
        data = b""
        while not data.endswith(b"\n"):
            data += self.made.recv(1 << 20)
        answer = json.loads(data)
        assert "error" not in answer, answer
        return answer

def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout

spawner = Spawner()

def spawn(name):
    begin = time.monotonic()
    spawner.ask(action="spawn", task_id=name, workspace="/mnt/agents")
    spawned = time.monotonic()
    spawner.ask(action="run", task_id=name, message="x")
    while not spawner.ask(action="output", task_id=name, wait_seconds=10)["output"]:
        pass
    return spawned - begin, time.monotonic() - begin

def plain_unit(number):
    # systemd's own clock: from the start of the first command until the unit is ready.
    name = f"plain-{number}.service"
    run("systemd-run", "--quiet", f"--unit={name}", "-p", "Type=notify", "-p", "NotifyAccess=all", "-p", "ExecStartPre=/bin/true",
        "-p", "ExecStopPost=/bin/true", "-p", "MemoryMax=256M", "-p", "TasksMax=50", "sh", "-c",
        "systemd-notify --ready; exec sleep infinity")
    times = dict(line.split("=") for line in run("systemctl", "show", name, "-p",
                 "InactiveExitTimestampMonotonic,ActiveEnterTimestampMonotonic").split())
    run("systemctl", "stop", name)
    return (int(times["ActiveEnterTimestampMonotonic"]) - int(times["InactiveExitTimestampMonotonic"])) / 1e6

def memory(pid):
    fields = dict(line.split(":") for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {"pss": int(fields["Pss"].split()[0]), "private": int(fields["Private_Dirty"].split()[0]), "rss": int(status["VmRSS"].split()[0])}

def main_pid(unit):
    return run("systemctl", "show", "--value", "-p", "MainPID", unit).strip()

# systemd watches its keeper.
def daemon_pid():
    keeper = main_pid("stiled.service")
    return Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()[0]

def available():
    return next(int(line.split()[1]) for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable"))

def of_workers():
    for place in Path("/proc").iterdir():
        try:
            if place.name.isdigit() and "sandboxed-agent@" in (place / "cgroup").read_text():
                yield place
        except OSError:
            pass

def ticks():
    total = 0
    for place in of_workers():
        fields = (place / "stat").read_text().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total

result = {"spawned": [], "task": [], "plain": []}
spawn("warm-up"); spawner.ask(action="terminate", task_id="warm-up"); plain_unit(0)
for number in range(1, spawns + 1):
    spawned, task = spawn("one")
    result["spawned"].append(spawned); result["task"].append(task)
    spawner.ask(action="terminate", task_id="one")
    result["plain"].append(plain_unit(number))
result["spawner_kb"] = memory(main_pid("stile-spawner.service"))
before, daemon = available(), memory(daemon_pid())
begin = time.monotonic()
for number in range(idle):
    spawner.ask(action="spawn", task_id=f"idle-{number}", workspace="/mnt/agents")
result["all_spawned"] = time.monotonic() - begin
last = [spawn(f"last-{number}")[1] for number in range(5)]
result["task_with_all"] = last
for number in range(5):
    spawner.ask(action="terminate", task_id=f"last-{number}")
pids = [place.name for place in of_workers()]
result["idle_processes"] = len(pids)
result["idle_pss_kb"] = sum(memory(pid)["pss"] for pid in pids)
result["idle_private_kb"] = sum(memory(pid)["private"] for pid in pids)
result["host_kb"] = before - available()
result["spawner_with_all_kb"] = memory(main_pid("stile-spawner.service"))
result["daemon_kb"], result["daemon_with_all_kb"] = daemon, memory(daemon_pid())
start = ticks(); time.sleep(20)
result["idle_cpu_seconds_per_minute"] = (ticks() - start) / os.sysconf("SC_CLK_TCK") * 3
begin = time.monotonic()
for number in range(idle):
    spawner.ask(action="terminate", task_id=f"idle-{number}")
result["all_terminated"] = time.monotonic() - begin
print(json.dumps(result))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/package")
    parser.add_argument("--spawns", type=int, default=30)
    parser.add_argument("--idle", type=int, default=200)
    options = parser.parse_args()
    os.environ["STILE_BUILD"] = options.build
    from machine import Machine
    with tempfile.TemporaryDirectory(prefix="workers-", dir=HERE.parent / options.build) as folder:
        machine = Machine(pathlib.Path(folder), SPAWNER_TOML)
        try:
            machine.path("/srv/measure.py").write_text(INSIDE)
            done = subprocess.run(machine.command("python3", "/srv/measure.py", str(options.spawns), str(options.idle)),
                                  capture_output=True, text=True, check=False)
        finally:
            machine.close()
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)

    def row(name, values):
        ordered = sorted(values)
        print(f"{name:34} median {statistics.median(ordered) * 1000:6.1f} ms, 95 % {ordered[int(len(ordered) * 0.95) - 1] * 1000:6.1f} ms")
    row("systemd's own unit", seen.pop("plain"))
    row("spawn to its answer", seen.pop("spawned"))
    row("spawn to the output of a task", seen.pop("task"))
    row(f"the same with {options.idle} idle workers", seen.pop("task_with_all"))
    for name, value in seen.items():
        print(f"{name:34} {value}")


if __name__ == "__main__":
    main()
