#!/usr/bin/python3
"""Writes the newest results of each scenario into docs/performance.md, between its markers."""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from plot import median, newest  # noqa: E402
from runner.results import format_table, number  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
END = "<!-- end -->"

# What is told, the scenario it is from, and its key there (none: the one that is compared).
LOAD = [
    ("CONNECT + first exchange, µs", "connect", None),
    ("refused CONNECT, µs", "refused", None),
    ("keep-alive GET of 1 KiB, µs", "get", None),
    ("the same, 100 hosts in turn, µs", "get-hosts", None),
    ("bulk up, 1 tunnel, ms/GB", "bulk-up-1", None),
    ("bulk down, 1 tunnel, ms/GB", "bulk-down-1", None),
    ("bulk up, 64 tunnels, ms/GB", "bulk-up-64", None),
    ("bulk down, 64 tunnels, ms/GB", "bulk-down-64", None),
    ("bulk up, 64 tunnels of one agent, ms/GB", "bulk-up-64-one-agent", None),
    ("bulk down, 64 tunnels of one agent, ms/GB", "bulk-down-64-one-agent", None),
]
OPENED = [
    ("CONNECT, full handshake, GET of 1 KiB, µs", "opened-full", None),
    ("the same, client resumes, µs", "opened-resumed", None),
    ("GET of 1 KiB on a kept connection, µs", "opened-get", None),
    ("bulk up, 64 connections, ms/GB", "opened-bulk-up", None),
    ("bulk down, 64 connections, ms/GB", "opened-bulk-down", None),
    ("memory of an idle connection, KiB", "opened-idle", None),
]
SIZE = [
    ("memory of an idle tunnel, KiB", "idle", None),
    ("CONNECT with 9,500 tunnels open, × none", "idle", "beside_by_alone"),
    ("CONNECT with 1,000,000 rules, × 1,000", "rules", "by_1000"),
    ("CONNECT of 1,000 agents in turn, × 1 agent", "agents", "by_1"),
    ("start with 100,000 rules, ms", "start", "ms_100000"),
    ("start with 1,000,000 rules, ms", "start", "ms_1000000"),
    ("slowest CONNECT in a reload of 100,000 rules, ms", "reload", "max_ms"),
    ("CONNECTs failed in it", "reload", "failed"),
    ("tunnels lost in it", "reload", "lost"),
]
IMAGES = {"load": "CPU time per operation, by proxy",
          "lists": "start and reload with long lists, by proxy"}
OTHERS = ["squid", "tinyproxy", "haproxy"]
OPENERS = ["squid", "mitmproxy", "haproxy"]


def cell(result, name, key=None):
    return number(median(result["rounds"].get(name, []), key or result["key"])).replace("-", "–")


def ratio(result, base):
    value = result[base].get("stile")
    return f"{value:.2f}" if value is not None else "–"


def load_table(results, heading, scenarios, others):
    rows = [[title, cell(result, "stile"), cell(result, result["floor"]),
             *(cell(result, name) for name in others),
             ratio(result, "by_floor"), ratio(result, "by_squid"), result["machine"]["commit"]]
            for title, scenario, _ in scenarios if (result := results.get(scenario))]
    return format_table([heading, "stile", "floor", *others, "stile ÷ floor", "stile ÷ squid",
                         "commit"], rows)


def size_table(results):
    names = ["stile", "floor-copy", "squid", "tinyproxy"]
    rows = [[title, *(cell(result, name, key) for name in names), result["machine"]["commit"]]
            for title, scenario, key in SIZE if (result := results.get(scenario))]
    return format_table(["", "stile", "floor", "squid", "tinyproxy", "commit"], rows)


def calls_table(result):
    rows = [[name, *(cell(result, name, key) for key in ("tunnel", "refuse", "forward"))]
            for name in result["rounds"]]
    return format_table(["system calls per", "CONNECT", "refusal", "GET"], rows)


def decisions_table(result):
    columns = {result["unit"]: result["key"], **result["columns"]}
    rows = [[name, *(cell(result, name, key) for key in columns.values())]
            for name in result["rounds"]]
    return format_table(["", *columns], rows)


def load_text(results):
    versions = {name: version for result in results.values()
                for name, version in result["versions"].items() if version}
    measured = {scenario for _, scenario, _ in LOAD + OPENED + SIZE} & results.keys()
    machine = max((results[name] for name in measured), key=lambda result: result["time"])["machine"]
    rounds = {len(each) for name in measured for each in results[name]["rounds"].values()}
    few, many = min(rounds), max(rounds)
    days = sorted({results[name]["time"][:10] for name in measured})
    parts = [f"Measured {' and '.join(days)}, each row at its commit: {machine['cores']} cores of "
             f"{machine['cpu']}, Linux {machine['kernel'].split('-')[0]}; medians of "
             f"{few if few == many else f'{few} to {many}'} rounds. "
             + "; ".join(versions[name] for name in sorted(versions)) + ".",
             load_table(results, "CPU time of the proxy", LOAD, OTHERS)]
    if any(scenario in results for _, scenario, _ in OPENED):
        parts.append(load_table(results, "inside TLS", OPENED, OPENERS))
    if any(scenario in results for _, scenario, _ in SIZE):
        parts.append(size_table(results))
    if "syscalls" in results:
        parts.append(calls_table(results["syscalls"]))
    parts += [f"![{title}](img/{name}.svg)" for name, title in IMAGES.items()
              if (ROOT / f"docs/img/{name}.svg").exists()]
    return "\n\n".join(parts)


def put(document, name, text):
    """The document with `text` between the marker of that name and the next end."""
    marker = f"<!-- {name}: written by bench/report.py -->"
    before, found, rest = document.partition(marker)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        sys.exit(f"the document has no place for {name}")
    return f"{before}{marker}\n\n{text}\n\n{END}{after}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench/results")
    parser.add_argument("--document", type=pathlib.Path, default=ROOT / "docs/performance.md")
    arguments = parser.parse_args()
    results = newest(arguments.results)
    decided = results.pop("decisions", None)
    document = arguments.document.read_text()
    if results:
        document = put(document, "load", load_text(results))
    if decided:
        document = put(document, "decisions", decisions_table(decided))
    arguments.document.write_text(document)
    print(arguments.document)


if __name__ == "__main__":
    main()
