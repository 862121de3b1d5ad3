"""AuditLog: the daemon's own record, read strictly and checked line by line."""

import hashlib
import json
import re
from pathlib import Path

import jsonschema

from .wait import until

SCHEMA = json.loads((Path(__file__).resolve().parents[3] / "docs/audit.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
MOST_VALIDATED = 1000  # it takes a third of a millisecond a line; of more, a sample

KEYS = ["ts", "seq", "event", "agent", "src", "conn", "method", "scheme", "host", "port", "path",
        "verdict", "reason", "rule", "status", "origin", "sni", "tls", "secret", "scan", "request", "bytes_up",
        "bytes_down", "duration_ms", "stripped", "count", "policy", "actor", "detail", "chain",
        "prev"]
EVENTS = {"open", "close", "deny", "ask", "answer", "policy", "grant", "start", "stop", "audit-gap"}
# Events that tell of the daemon itself may say more than the keys of a request.
FREE_EVENTS = {"policy", "grant", "start", "stop", "audit-gap"}
VERDICTS = {"allow", "deny", "would-deny"}
REASONS = {
    "unknown-agent", "agent-expired", "offline", "ip-literal", "bad-request", "port-not-allowed",
    "host-denied", "host-not-allowed", "rate-limited", "too-many-connections", "budget-exhausted",
    "dns-failure", "address-forbidden", "origin-unreachable", "origin-timeout",
    "origin-bad-response", "not-tls", "sni-missing", "sni-mismatch", "ech-refused",
    "client-hello-timeout", "client-tls-failed", "no-application-protocol", "host-mismatch",
    "method-not-allowed", "path-not-allowed", "upgrade-not-allowed", "body-too-large", "ref-not-allowed",
    "credential-refused", "placeholder-misplaced", "secret-found", "origin-certificate", "audit-unavailable", "overloaded", "draining", "header-timeout",
    "header-too-large", "internal-error", "revoked", "idle-timeout"}
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
PRINTABLE = re.compile(rb"[ -~]*")
ZEROS = "0" * 64


class AuditLog:
    def __init__(self, path):
        self.path = path

    def raw_lines(self):
        """Whole lines only, as bytes without their newline."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return []
        return data.split(b"\n")[:-1]

    def entries(self, **fields):
        """Lines as dicts; those whose fields have these values (a set: one of them).

        A torn line is skipped here; verify() looks for the gap that has to name it.
        """
        out = []
        for line in self.raw_lines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if all(_matches(entry.get(key), value) for key, value in fields.items()):
                out.append(entry)
        return out

    def only(self, **fields):
        """Exactly one such line stands there now."""
        found = self.entries(**fields)
        assert len(found) == 1, f"{len(found)} lines with {fields}:\n{self.tail()}"
        return found[0]

    def wait_one(self, seconds=10, **fields):
        return self.wait_count(1, seconds, **fields)[0]

    def wait_count(self, count, seconds=10, **fields):
        def enough():
            found = self.entries(**fields)
            return found if len(found) >= count else None
        try:
            return until(enough, seconds, f"{count} audit lines with {fields}")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.tail()}") from None

    def tail(self, lines=20):
        return "\n".join(line.decode("latin-1") for line in self.raw_lines()[-lines:])

    def verify(self, chained=True):
        """Every line is well-formed, and each chain holds from its first line to its last."""
        verify_lines(self.raw_lines(), chained)


def _matches(value, wanted):
    return value in wanted if isinstance(wanted, (set, frozenset)) else value == wanted


def verify_lines(lines, chained=True, start=ZEROS):
    last = {}
    torn = []
    every = 1 + len(lines) // MOST_VALIDATED
    for number, line in enumerate(lines, 1):
        where = f"audit line {number}: {line!r}"
        assert PRINTABLE.fullmatch(line), f"not printable ASCII: {where}"
        try:
            entry = json.loads(line, object_pairs_hook=_no_duplicates)
        except ValueError:
            torn.append(line)
            continue
        if torn:
            # Only a torn line may be no JSON, and then the gap after it names its hash. The gap can be
            # torn as well: then the next one names both.
            assert entry["event"] == "audit-gap", f"not JSON, and no gap after it: {torn}"
            assert hashlib.sha256(b"\n".join(torn)).hexdigest() in line.decode(), f"not of {torn}: {where}"
            torn = []
        _check_entry(entry, where)
        if number % every == 0:
            wrong = [error.message for error in VALIDATOR.iter_errors(entry)]
            assert not wrong, f"against the schema: {wrong}: {where}"
        if chained:
            chain = entry.get("chain")
            assert entry.get("prev") == last.get(chain, start), f"chain broken at {where}"
            last[chain] = hashlib.sha256(line).hexdigest()
    assert not torn, f"not JSON: {torn}"


def _no_duplicates(pairs):
    assert len({key for key, _ in pairs}) == len(pairs), f"a key twice: {pairs}"
    return dict(pairs)


def _check_entry(entry, where):
    assert entry.get("event") in EVENTS, f"unknown event: {where}"
    assert TIME.match(entry.get("ts", "")), f"bad ts: {where}"
    known = [key for key in entry if key in KEYS]
    assert known == [key for key in KEYS if key in entry], f"keys out of order: {where}"
    if entry["event"] not in FREE_EVENTS:
        assert len(known) == len(entry), f"unknown key: {where}"
    if "verdict" in entry:
        assert entry["verdict"] in VERDICTS, where
    if "reason" in entry:
        assert entry["reason"] in REASONS, where
    if entry["event"] == "deny":
        assert entry.get("verdict") == "deny" and "reason" in entry, where
    if entry["event"] == "open":
        assert entry.get("verdict") in ("allow", "would-deny"), where
        assert ("reason" in entry) == (entry["verdict"] == "would-deny"), where
    for value in entry.values():
        if isinstance(value, str):
            assert len(value) <= 4096, f"field not cut: {where}"
