"""Scenario: CONNECTs of one agent, of 100 and of 1,000: a daemon for each number, in turn."""

from . import contenders
from .results import Result
from .scenarios import entry_of

NUMBERS = (1, 100, 1000)


def agents(bench):
    result = Result("agents", "CONNECT + first exchange of 1,000 agents in turn", "cpu",
                    "µs of CPU per CONNECT",
                    columns={"of 100": "cpu_100", "of 1": "cpu_1", "1,000 ÷ 1": "by_1"})
    for contender in bench.contenders:
        if not isinstance(contender, contenders.Stile):
            continue
        started = {}
        try:
            for number in NUMBERS:
                work = bench.work / f"agents-{number}" / contender.name
                started[number] = contender.start(work, contenders.Setup(agents=number))
                started[number].wait_ready()
            result.versions[contender.name] = contender.version()
            for turn in range(bench.rounds):
                result.add(contender.name, bench.undisturbed(
                    lambda: one_round(bench, contender, started, turn)))
        finally:
            for running in started.values():
                running.stop()
    return result


def one_round(bench, contender, started, turn):
    at = turn % len(NUMBERS)
    entries = {}
    for number in NUMBERS[at:] + NUMBERS[:at]:
        report = bench.load.run("connect", contender, started[number], "--sources", number, "--count",
                                bench.count(8000), "--warm-up", 2000)
        entries[number] = entry_of(report, report["operations"], 1e6)
    one, hundred, most = (entries[number] for number in NUMBERS)
    return {**most, "cpu_100": hundred["cpu"], "cpu_1": one["cpu"], "by_1": most["cpu"] / one["cpu"],
            "failed": sum(entry["failed"] for entry in entries.values()),
            "used": sum(entry["used"] for entry in entries.values())}
