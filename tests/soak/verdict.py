"""Verdict: compares what the clients of a soak saw with what the daemon wrote down."""

import collections
import json

from . import town
from .town import AGENTS, MOODY


class Lines:
    """The audit log, counted per (source address, host)."""

    def __init__(self, path):
        self.outcomes = collections.defaultdict(collections.Counter)
        self.closes = collections.Counter()
        self.events = collections.Counter()
        with open(path, encoding="ascii") as log:
            for line in log:
                self._count(json.loads(line))

    def _count(self, line):
        event = line["event"]
        self.events[event] += 1
        if event not in ("open", "close", "deny"):
            return
        key = line["src"].rsplit(":", 1)[0], line.get("host")
        if event == "close":
            self.closes[key] += 1
        else:
            outcome = "open" if event == "open" else line["reason"]
            self.outcomes[key][outcome] += line.get("count", 1)


def compare(place, tally, lines):
    """Every request has its line, and every line its request; as a list of sentences."""
    troubled = {*place.sources[AGENTS - MOODY:], *place.guests}
    problems = []
    for key in sorted(set(tally.requests) | set(lines.outcomes), key=str):
        source, host = key
        asked, written = tally.requests.get(key, {}), lines.outcomes.get(key, {})
        if source in troubled or host in town.VOLATILE:
            most = sum(asked.values())
            least = most - (asked.get("lost", 0) if source in troubled else 0)
            if not least <= sum(written.values()) <= most:
                problems.append(f"{source} asked {most} times for {host}, lines: {dict(written)}")
        elif dict(asked) != dict(written):
            problems.append(f"{source} and {host}: asked {dict(asked)}, lines {dict(written)}")
        if lines.closes[key] != written.get("open", 0):
            problems.append(f"{source} and {host}: {written.get('open', 0)} open lines, "
                            f"{lines.closes[key]} close lines")
    return problems


def nothing_got_out(place):
    """No request of a refused name at an origin, nor at the DNS server."""
    problems = [f"trespass: {text}" for text in place.trespasses[:10]]
    for origin in (place.trap, place.http_trap):
        if origin.connections:
            problems.append(f"{len(origin.connections)} connections to a refused name")
    asked = place.world.dns.names_asked() & {town.UNLISTED, town.DENIED}
    return problems + [f"a refused name was looked up: {name}" for name in sorted(asked)]
