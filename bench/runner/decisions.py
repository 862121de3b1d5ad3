"""Scenario: the policy alone, by number of rules; Google Benchmark measures, on the proxy's core."""

import json
import subprocess

from . import machine
from .results import Result

REPETITIONS = 5
FILTER = "^(hit_hot|hit_uniform|miss_hot|hit_hot_beside_regexes|build_from_file)/"
COLUMNS = {"refused": "miss_hot", "each name once": "hit_uniform",
           "beside 10 regexes": "hit_hot_beside_regexes", "bytes a rule": "bytes_per_rule",
           "file to snapshot, ms": "build_from_file"}


def decisions(bench):
    """One round with the fastest of the repetitions: what others do only adds to them."""
    result = Result("decisions", "one decision of the policy", "hit_hot",
                    "ns, 1,000 names again and again", columns=COLUMNS)
    program = bench.load.program.parent / "acl_bench"
    run = subprocess.run(
        machine.pinned(machine.PROXY_CORE, [
            program, f"--benchmark_filter={FILTER}", "--benchmark_format=json",
            f"--benchmark_repetitions={REPETITIONS}", "--benchmark_min_time=0.1"]),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    entries = {}
    for one in json.loads(run.stdout)["benchmarks"]:
        if one["run_type"] != "iteration":
            continue
        name, rules = one["name"].split("/rules:")
        entry = entries.setdefault(int(rules.split("/")[0]), {})
        entry[name] = min(entry.get(name, float("inf")), one["cpu_time"])
        if "bytes_per_rule" in one:
            entry["bytes_per_rule"] = one["bytes_per_rule"]
    for rules, entry in sorted(entries.items()):
        result.add(f"{rules:,} rules", entry)
    return result
