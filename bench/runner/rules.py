"""Scenarios with large allowlists: start, CONNECT, reload under load."""

import random
import signal
import socket
import threading
import time

from . import contenders, machine
from .results import Result
from .scenarios import entry_of


def write_rules(path, count, extra=()):
    """`count` patterns, half exact and half suffix, none below another; origin.test among them."""
    choice = random.Random(count)
    words = ["api", "cdn", "img", "mail", "static", "edge", "login", "data", "files", "eu-west"]
    with open(path, "w", encoding="ascii") as file:
        for number in range(count - 1 - len(extra)):
            name = f"{choice.choice(words)}.{choice.choice(words)}-{number}.example"
            file.write(f".{name}\n" if number % 2 else f"{name}\n")
        file.write("\n".join([*extra, "origin.test"]) + "\n")


def ruled(bench):
    return [contender for contender in bench.contenders if contender.has_rules]


def start(bench):
    """From exec to the first answer, with 1,000, 100,000 and 1,000,000 rules."""
    result = Result("start", "start with large lists, until the first answer", "ms_100000",
                    "ms, 100,000 rules",
                    columns={"of them CPU": "cpu_ms_100000", "1,000 rules": "ms_1000",
                             "CPU": "cpu_ms_1000", "1,000,000 rules": "ms_1000000",
                             "CPU ": "cpu_ms_1000000"})
    sizes = (1000, 100000, 1000000)
    lists = {size: bench.work / f"list-{size}" for size in sizes}
    for size, path in lists.items():
        write_rules(path, size)
    for number in range(min(bench.rounds, 3)):
        for contender in ruled(bench):
            result.versions[contender.name] = contender.version()
            result.add(contender.name, bench.undisturbed(
                lambda: start_times(bench, contender, lists, number)))
    return result


def start_times(bench, contender, lists, number):
    entry = {"used": 0.0}
    for size, path in lists.items():
        work = bench.work / f"start-{number}" / contender.name
        running = contender.start(work, contenders.Setup(rules=path, one_agent=True))
        try:
            seconds = running.wait_ready()
            entry[f"ms_{size}"] = seconds * 1e3
            entry[f"cpu_ms_{size}"] = machine.cpu_seconds(running.pids()) * 1e3
            entry["used"] += seconds
        finally:
            running.stop()
    return entry


def connect(bench):
    """CONNECT with 1,000,000 rules by CONNECT with 1,000: two processes of each, in turn."""
    result = Result("rules", "CONNECT with 1,000,000 rules", "cpu", "µs of CPU per CONNECT",
                    columns={"with 1,000": "cpu_1000", "ratio": "by_1000"})
    small, large = bench.work / "list-1000", bench.work / "list-1000000"
    write_rules(small, 1000)
    write_rules(large, 1000000)
    started = []
    count = bench.count(8000)
    try:
        for contender in ruled(bench):
            pair = []
            for path in (small, large):
                work = bench.work / f"rules-{path.name}" / contender.name
                pair.append(contender.start(work, contenders.Setup(rules=path, one_agent=True)))
                started.append(pair[-1])
                pair[-1].wait_ready()
            result.versions[contender.name] = contender.version()
            for _ in range(bench.rounds):
                result.add(contender.name, bench.undisturbed(
                    lambda: compare(bench, contender, pair, count)))
            for running in pair:
                running.stop()
                started.remove(running)
    finally:
        for running in started:
            running.stop()
    return result


def compare(bench, contender, pair, count):
    reports = [bench.load.run("connect", contender, running, "--count", count, "--warm-up", 500)
               for running in pair]
    few, many = (entry_of(report, report["operations"], 1e6) for report in reports)
    return {**many, "cpu_1000": few["cpu"], "by_1000": many["cpu"] / few["cpu"],
            "failed": few["failed"] + many["failed"], "used": few["used"] + many["used"]}


def reload(bench):
    """SIGHUP with 100,000 rules while 8 clients connect all the time and 1,000 tunnels are open."""
    result = Result("reload", "reload of 100,000 rules under load", "max_ms",
                    "ms, slowest CONNECT",
                    columns={"without reload": "calm_max_ms", "in force after ms": "in_force_ms",
                             "tunnels lost": "lost"})
    for _ in range(min(bench.rounds, 3)):
        for contender in ruled(bench):
            result.versions[contender.name] = contender.version()
            result.add(contender.name, bench.undisturbed(lambda: one_reload(bench, contender)))
    return result


def one_reload(bench, contender):
    work = bench.work / "reload" / contender.name
    work.mkdir(parents=True, exist_ok=True)
    path = work / "rules"
    write_rules(path, 100000)
    running = contender.start(work, contenders.Setup(rules=path, one_agent=True))
    try:
        running.wait_ready()
        return measure_reload(bench, contender, running, path)
    finally:
        running.stop()


def measure_reload(bench, contender, running, path):
    flags = ["--concurrency", 8, "--count", 10000000, "--warm-up", 100, "--seconds", 3]
    held = bench.load.hold(contender, running, 1000)
    calm = bench.load.run("connect", contender, running, *flags)
    in_force = []
    write_rules(path, 100000, extra=["reloaded.test"])

    def reload_once():
        time.sleep(1)
        in_force.append(seconds_until_in_force(running, "reloaded.test"))

    thread = threading.Thread(target=reload_once)
    thread.start()
    report = bench.load.run("connect", contender, running, *flags)
    thread.join()
    lost = held.release()
    entry = entry_of(report, report["operations"], 1e6)
    entry.update(max_ms=report["latency_us"]["max"] / 1e3,
                 calm_max_ms=calm["latency_us"]["max"] / 1e3, lost=lost,
                 in_force_ms=in_force[0] * 1e3 if in_force[0] else None,
                 used=entry["used"] + calm["seconds"] + calm["cpu_seconds"])
    return entry


def seconds_until_in_force(running, host, patience=10):
    """Sends SIGHUP and asks for a name that only the new list has until it is no longer refused."""
    began = time.monotonic()
    running.process.send_signal(signal.SIGHUP)
    ask = f"CONNECT {host}:{contenders.TLS_PORT} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    while time.monotonic() < began + patience:
        try:
            with socket.create_connection(("127.0.0.1", running.port), 5,
                                          ("127.0.1.1", 0)) as client:
                client.sendall(ask)
                client.settimeout(0.2)
                if b" 403 " not in client.recv(64):
                    return time.monotonic() - began
        except TimeoutError:  # allowed, and looking for a name that no server knows
            return time.monotonic() - began
        except OSError:
            pass
        time.sleep(0.005)
    return None
