"""Scenario: 9,500 tunnels in which nothing moves: their memory, and CONNECT beside them."""

from . import contenders, machine
from .results import Result
from .scenarios import entry_of

TUNNELS = 9500  # two descriptors each, and 20,000 are what a process commonly gets


def idle(bench):
    result = Result("idle", f"{TUNNELS} idle tunnels", "kib_per_tunnel", "KiB per tunnel",
                    columns={"CONNECT µs, none open": "connect_us_alone",
                             "with all open": "connect_us_beside", "ratio": "beside_by_alone",
                             "lost": "lost"})
    tunnels = min(TUNNELS, contenders.hard_limit() // 2 - 500)
    for _ in range(bench.rounds):
        for contender in bench.contenders:
            if "tunnel" in contender.kinds:
                result.versions[contender.name] = contender.version()
                result.add(contender.name,
                           bench.undisturbed(lambda: one_round(bench, contender, tunnels)))
    return result


def one_round(bench, contender, tunnels):
    """With a fresh process, since memory once taken is rarely given back."""
    running = contender.start(bench.work / "idle" / contender.name, contenders.Setup("tunnel"))
    try:
        running.wait_ready()
        return measure(bench, contender, running, tunnels)
    finally:
        running.stop()


def measure(bench, contender, running, tunnels):
    count = bench.count(4000)

    def connects():
        report = bench.load.run("connect", contender, running, "--count", count, "--warm-up", 500)
        return report, entry_of(report, report["operations"], 1e6)

    report, alone = connects()
    before = machine.private_kib(running.pid)
    held = bench.load.hold(contender, running, tunnels)
    after = machine.private_kib(running.pid)
    report_held, beside = connects()
    lost = held.release()
    opened = held.report["operations"]
    used = sum(r["seconds"] + r["cpu_seconds"] for r in (report, report_held, held.report))
    return {"kib_per_tunnel": (after - before) / opened if opened else None, "opened": opened,
            "lost": lost, "failed": held.report["failed"] + beside["failed"], "used": used,
            "connect_us_alone": alone["cpu"], "connect_us_beside": beside["cpu"],
            "beside_by_alone": beside["cpu"] / alone["cpu"]}
