#!/usr/bin/python3
"""Measures stile beside other proxies and a floor, and writes bench/results/DATE-SCENARIO.json.

    bench/run.py                    every scenario
    bench/run.py connect refused    some of them
    bench/run.py --list             their names
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from runner import agents, contenders, decisions, load, opened, rules, scenarios, syscalls, tunnels  # noqa: E402

SCENARIOS = {
    "connect": scenarios.connect,
    "refused": scenarios.refused,
    "get": scenarios.get,
    "get-hosts": scenarios.get_hosts,
    "bulk-up-1": scenarios.bulk("up", 1),
    "bulk-down-1": scenarios.bulk("down", 1),
    "bulk-up-64": scenarios.bulk("up", 64),
    "bulk-down-64": scenarios.bulk("down", 64),
    "bulk-up-64-one-agent": scenarios.bulk("up", 64, one_agent=True),
    "bulk-down-64-one-agent": scenarios.bulk("down", 64, one_agent=True),
    "agents": agents.agents,
    **opened.SCENARIOS,
    "idle": tunnels.idle,
    "start": rules.start,
    "rules": rules.connect,
    "reload": rules.reload,
    "syscalls": syscalls.syscalls,
    "decisions": decisions.decisions,
}


def parse_arguments():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", nargs="*", help="default: all")
    parser.add_argument("--list", action="store_true", help="print the scenarios")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/package",
                        help="where floor, loadgen and stiled were built")
    parser.add_argument("--results", type=pathlib.Path, default=root / "bench/results")
    parser.add_argument("--only", help="contenders, separated by commas")
    parser.add_argument("--before", type=pathlib.Path,
                        help="an older stiled, measured in the same run as stile-before")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--scale", type=float, default=1.0, help="size of a round; 0.1 is quick")
    arguments = parser.parse_args()
    for name in arguments.scenario:
        if name not in SCENARIOS:
            parser.error(f"no scenario {name}; there are {', '.join(SCENARIOS)}")
    return arguments


def choose(arguments):
    chosen = []
    entrants = contenders.all_contenders(arguments.build.resolve())
    if arguments.before:
        entrants.insert(1, contenders.Stile("stile-before", arguments.before.resolve()))
    for contender in entrants + opened.entrants(arguments.build.resolve()):
        if arguments.only and contender.name not in arguments.only.split(","):
            continue
        if reason := contender.missing():
            print(f"skipped: {contender.name}: {reason}")
            continue
        chosen.append(contender)
    return chosen


def take_precedence():
    """Of what else the machine does, as far as this user may; all contenders inherit it alike."""
    with contextlib.suppress(PermissionError):
        os.nice(-15)


def main():
    arguments = parse_arguments()
    if arguments.list:
        print("\n".join(SCENARIOS))
        return
    # Below the build tree, because stile refuses lists in a directory that everybody may write.
    work = arguments.build.resolve() / "bench-work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    take_precedence()
    with load.Load(arguments.build.resolve() / "bench/loadgen", work) as generator:
        bench = scenarios.Bench(generator, choose(arguments), work, arguments.rounds,
                                arguments.scale)
        failed = []
        for name in arguments.scenario or SCENARIOS:
            try:
                result = SCENARIOS[name](bench)
            except (OSError, RuntimeError, ValueError, subprocess.SubprocessError) as problem:
                print(f"\n{name}: {problem}", file=sys.stderr, flush=True)
                failed.append(name)  # the others can be measured all the same
                continue
            print(f"\n{result.table()}\n{result.save(arguments.results)}", flush=True)
    shutil.rmtree(work, ignore_errors=True)
    if failed:
        sys.exit(f"not measured: {', '.join(failed)}")


if __name__ == "__main__":
    main()
