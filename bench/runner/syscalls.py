"""Scenario: system calls per CONNECT, per refusal and per GET, counted by strace."""

import contextlib
import shutil
import signal
import subprocess

from . import contenders
from .results import Result

OPERATIONS = 2000
FLAGS = {"tunnel": ["connect"], "refuse": ["connect", "--refused", "--target",
                                           f"denied.test:{contenders.TLS_PORT}"],
         "forward": ["get"]}


def syscalls(bench):
    result = Result("syscalls", "system calls", "tunnel", "per CONNECT",
                    columns={"per refusal": "refuse", "per GET": "forward"})
    if not shutil.which("strace"):
        print("skipped: strace is not there")
        return result
    for contender in bench.contenders:
        entry = {"used": 0.0}
        for kind in FLAGS.keys() & set(contender.kinds):
            calls = count(bench, contender, kind)
            entry[kind] = sum(calls.values())
            entry[f"{kind}_calls"] = calls
        result.add(contender.name, entry)
        result.versions[contender.name] = contender.version()
    return result


def count(bench, contender, kind):
    """Name of a call -> how often it is made per operation; rarer ones than 1 in 100 are left out."""
    work = bench.work / "syscalls" / kind / contender.name
    running = contender.start(work, contenders.Setup(kind))
    try:
        running.wait_ready()
        with traced(running.pid, work / "strace"):
            command, *flags = FLAGS[kind]
            if kind == "forward":
                flags += ["--target", contender.http_target]
                flags += ["--origin-form"] if contender.origin_form else []
            bench.load.run(command, contender, running, "--count", OPERATIONS, *flags)
    finally:
        running.stop()
    calls = {}
    for line in (work / "strace").read_text().splitlines():
        fields = line.split()
        if len(fields) >= 5 and fields[3].isdigit() and fields[-1] != "total":
            calls[fields[-1]] = round(int(fields[3]) / OPERATIONS, 2)
    return {name: times for name, times in calls.items() if times >= 0.01}


@contextlib.contextmanager
def traced(pid, output):
    """Counts the calls of a process and its threads while the body runs."""
    tracer = subprocess.Popen(["strace", "-c", "-f", "-p", str(pid), "-o", str(output)],
                              stderr=subprocess.PIPE, text=True)
    tracer.stderr.readline()  # "Process … attached"
    try:
        yield
    finally:
        tracer.send_signal(signal.SIGINT)
        tracer.communicate()
