"""Results: medians, files, tables."""

import datetime
import json
import statistics

from . import machine

def median(rounds, key):
    values = [entry[key] for entry in rounds if entry.get(key) is not None]
    return statistics.median(values) if values else None


UNDER_LOAD = {"per second": "per_second", "p50 µs": "p50_us", "p99 µs": "p99_us"}


class Result:
    """One scenario: for each contender a list of rounds; `key` is the figure that is compared.

    `columns` are the medians that the table shows beside it, by heading.
    """

    def __init__(self, scenario, title, key, unit, floor="floor-copy", columns=None):
        self.scenario, self.title, self.key, self.unit, self.floor = (
            scenario, title, key, unit, floor)
        self.columns = UNDER_LOAD if columns is None else columns
        self.rounds = {}
        self.versions = {}

    def add(self, name, entry):
        self.rounds.setdefault(name, []).append(entry)

    def median(self, name, key=None):
        return median(self.rounds.get(name, []), key or self.key)

    def save(self, folder):
        now = datetime.datetime.now(datetime.timezone.utc)
        path = folder / f"{now:%Y-%m-%d}-{self.scenario}.json"
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({
            "scenario": self.scenario, "title": self.title, "key": self.key, "unit": self.unit,
            "floor": self.floor, "columns": self.columns, "time": now.isoformat(timespec="seconds"),
            "machine": machine.description(), "versions": self.versions,
            "median": {name: self.median(name) for name in self.rounds},
            "by_floor": {name: self.ratio(name, self.floor) for name in self.rounds},
            "by_squid": {name: self.ratio(name, "squid") for name in self.rounds},
            "rounds": self.rounds}, indent=1) + "\n")
        return path

    def table(self):
        headings = ["contender", self.unit, "min–max", "× floor", "× squid", *self.columns,
                    "failed", "steal"]
        rows = [[name, number(self.median(name)), self._spread(name),
                 number(self.ratio(name, self.floor)), number(self.ratio(name, "squid")),
                 *(number(self.median(name, key)) for key in self.columns.values()),
                 str(sum(entry.get("failed", 0) for entry in self.rounds[name])),
                 f"{100 * (self.median(name, 'steal') or 0):.1f} %"] for name in self.rounds]
        return f"{self.title}\n\n" + format_table(headings, rows)

    def _spread(self, name):
        values = [entry[self.key] for entry in self.rounds[name] if entry.get(self.key) is not None]
        return f"{number(min(values))}–{number(max(values))}" if values else "-"

    def ratio(self, name, base):
        """Median of the ratios round by round: the machine's speed drifts from minute to minute."""
        pairs = zip(self.rounds.get(name, []), self.rounds.get(base, []))
        ratios = [mine[self.key] / other[self.key] for mine, other in pairs
                  if mine.get(self.key) is not None and other.get(self.key)]
        return statistics.median(ratios) if ratios else None


def number(value):
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def format_table(columns, rows):
    """A Markdown table, which is readable on a terminal too."""
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
             for row in [columns, *rows]]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
