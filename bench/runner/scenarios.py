"""Scenarios in which the contenders run side by side and are loaded in turn."""

from . import contenders, machine
from .results import Result

REPEATS = 5  # of a round that met too much steal, before it is taken as it is


class Bench:
    """What every scenario needs: the load, the contenders that are there, where to work."""

    def __init__(self, load, chosen, work, rounds, scale):
        self.load, self.contenders, self.work = load, chosen, work
        self.rounds, self.scale = rounds, scale

    def count(self, full):
        return max(int(full * self.scale), 100)

    def undisturbed(self, measure):
        """Calls measure() until the host left us alone, at most REPEATS times."""
        for attempt in range(1, REPEATS + 1):
            cores = machine.CoreTime()
            entry = measure()
            shares = cores.shares()
            if shares["steal"] <= machine.MAX_STEAL:
                break
        entry.update(steal=shares["steal"], attempts=attempt,
                     others=max(0.0, shares["busy"] * shares["seconds"] * 2 - entry["used"]))
        return entry


def entry_of(report, per, unit_scale):
    """The generator's report as one round: CPU time per operation or per gigabyte."""
    cpu = report["cpu_seconds"]
    return {"cpu": cpu / per * unit_scale if cpu and per else None,
            "per_second": per / report["seconds"] if report["seconds"] else None,
            "p50_us": report["latency_us"]["p50"], "p99_us": report["latency_us"]["p99"],
            "max_us": report["latency_us"]["max"], "failed": report["failed"],
            "failures": report["failures"], "used": cpu + report["seconds"]}


def side_by_side(bench, result, setup, one_round, with_direct=True):
    """Starts all contenders, then takes them in turn, each round beginning with another one."""
    names = [c for c in bench.contenders if setup.kind in c.kinds]
    started = []
    try:
        for contender in names:
            running = contender.start(bench.work / result.scenario / contender.name, setup)
            started.append((contender, running))
            running.wait_ready()
            result.versions[contender.name] = contender.version()
        turns = started + ([(None, None)] if with_direct else [])
        for number in range(bench.rounds):
            at = number % len(turns)
            for contender, running in turns[at:] + turns[:at]:
                entry = bench.undisturbed(lambda: one_round(contender, running))
                result.add(contender.name if contender else "direct", entry)
    finally:
        for _, running in started:
            running.stop()
    return result


def connect(bench):
    result = Result("connect", "CONNECT + first exchange, 64 at a time", "cpu",
                    "µs of CPU per CONNECT")
    count = bench.count(8000)

    def one_round(contender, running):
        report = bench.load.run("connect", contender, running, "--count", count, "--warm-up", 500)
        return entry_of(report, report["operations"], 1e6)

    return side_by_side(bench, result, contenders.Setup("tunnel"), one_round)


def refused(bench):
    result = Result("refused", "refused CONNECT, 64 at a time", "cpu", "µs of CPU per refusal")
    count = bench.count(10000)

    def one_round(contender, running):
        report = bench.load.run("connect", contender, running, "--refused", "--count", count,
                                "--warm-up", 500, "--target",
                                f"denied.test:{contenders.TLS_PORT}")
        return entry_of(report, report["operations"], 1e6)

    return side_by_side(bench, result, contenders.Setup("refuse"), one_round, with_direct=False)


def get(bench):
    result = Result("get", "keep-alive GET, 1 KiB, 64 at a time", "cpu", "µs of CPU per GET")
    count = bench.count(30000)

    def one_round(contender, running):
        flags = ["--count", count, "--warm-up", 1000]
        if contender is None:
            flags += ["--proxy", f"{contenders.ORIGIN}:{contenders.HTTP_PORT}", "--origin-form"]
        else:
            flags += ["--target", contender.http_target]
            flags += ["--origin-form"] if contender.origin_form else []
        report = bench.load.run("get", contender, running, *flags)
        return entry_of(report, report["operations"], 1e6)

    return side_by_side(bench, result, contenders.Setup("forward"), one_round)


def get_hosts(bench):
    """As clients use a proxy: each kept connection asks for one host after the other."""
    result = Result("get-hosts", "keep-alive GET, 1 KiB, 100 hosts in turn, 64 at a time", "cpu",
                    "µs of CPU per GET")
    count = bench.count(20000)

    def one_round(contender, running):
        report = bench.load.run("get", contender, running, "--count", count, "--warm-up", 2000,
                                "--target", contender.http_target, "--hosts",
                                len(contenders.HOSTS))
        return entry_of(report, report["operations"], 1e6)

    return side_by_side(bench, result, contenders.Setup("hosts"), one_round, with_direct=False)


def bulk(direction, tunnels, one_agent=False):
    """`one_agent`: all tunnels belong to one agent, so that fairness has nothing to divide."""
    def scenario(bench):
        result = Result(f"bulk-{direction}-{tunnels}" + ("-one-agent" if one_agent else ""),
                        f"bulk {direction}, {tunnels} tunnels" + (" of one agent" * one_agent), "cpu",
                        "ms of CPU per GB", floor="floor-splice")
        size = bench.count(1000000000)

        def one_round(contender, running):
            flags = ["--concurrency", tunnels, "--bytes", size]
            flags += ["--up"] if direction == "up" else []
            report = bench.load.run("bulk", contender, running, *flags)
            return entry_of(report, report["bytes"] / 1e9, 1e3)

        return side_by_side(bench, result, contenders.Setup("tunnel", one_agent=one_agent), one_round)
    return scenario
