"""The machine under the run: cores, stolen time, memory of a process."""

import contextlib
import os
import pathlib
import platform
import subprocess
import time

PROXY_CORE = os.cpu_count() - 1
LOAD_CORE = 0
MAX_STEAL = 0.03  # of both cores' time; a run that met more is repeated
TICK = os.sysconf("SC_CLK_TCK")


def pinned(core, command):
    return ["taskset", "-c", str(core), *map(str, command)]


class CoreTime:
    """Time of all cores since it was made, as shares: stolen by the host, and busy."""

    def __init__(self):
        self.begin = self._read()

    @staticmethod
    def _read():
        with open("/proc/stat", encoding="ascii") as stat:
            fields = [int(field) for field in stat.readline().split()[1:9]]
        idle, steal = fields[3] + fields[4], fields[7]
        return sum(fields), idle, steal

    def shares(self):
        total, idle, steal = (now - then for now, then in zip(self._read(), self.begin))
        return {"steal": steal / max(total, 1), "busy": (total - idle - steal) / max(total, 1),
                "seconds": total / TICK / os.cpu_count()}


def stolen_ticks():
    """Time that the host of a virtual machine gave to others instead, of all cores."""
    with open("/proc/stat", encoding="ascii") as stat:
        return int(stat.readline().split()[8])


def private_kib(pid):
    """What only this process has in memory, in KiB."""
    private = 0
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as rollup:
        for line in rollup:
            if line.startswith(("Private_Clean:", "Private_Dirty:")):
                private += int(line.split()[1])
    return private


def family(pid):
    """A process and all that it has started."""
    children = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # gone meanwhile
            child, rest = stat.parent.name, stat.read_text().rpartition(")")[2]
            children.setdefault(int(rest.split()[1]), []).append(int(child))
    pids = [pid]
    for one in pids:
        pids += children.get(one, [])
    return pids


def cpu_seconds(pids):
    """CPU time of processes and their threads so far; see MAKE_PROCESS_CPUCLOCK in the kernel."""
    return sum(time.clock_gettime((~pid << 3) | 2) for pid in pids)


def description():
    with open("/proc/cpuinfo", encoding="ascii") as info:
        models = [line.split(":")[1].strip() for line in info if line.startswith("model name")]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                            check=False, cwd=os.path.dirname(__file__)).stdout.strip()
    return {"cpu": models[0] if models else platform.machine(), "cores": os.cpu_count(),
            "kernel": platform.release(), "commit": commit}
