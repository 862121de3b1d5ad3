"""Every client of the matrix through the real proxy; docs/compatibility.md has to say the same.

    STILE_WRITE_MATRIX=1 /usr/bin/python3 -m pytest tests/compat     writes the page anew
"""

import os

import pytest

from compat import table
from compat.captured import Captured
from compat.case import WORKS, how_told, seen
from compat.clients import CASES, OPTIONAL
from compat.place import REFUSED, Place

ROWS = {}


@pytest.fixture(scope="module")
def place(shared_world):
    made = Place(shared_world)
    made.captured = Captured(made)
    yield made
    made.captured.close()
    made.close()


def lines_of(place, begin):
    return [line for line in place.proxy.audit.entries(event={"open", "deny"})][begin:]


def allowed_verdict(case, place):
    """WORKS, or the reason of the refusal, by what the client, the log and the origin say."""
    lines, visits = len(lines_of(place, 0)), place.visits()
    outcome = case.run(place, case.host)
    new = lines_of(place, lines)
    reasons = {line.get("reason") for line in new}
    if case.expected == WORKS:
        assert outcome.is_fine, f"{outcome.text}\n{new}"
        assert reasons == {None}, new
    else:
        assert not outcome.is_fine, outcome.text
        assert place.visits() == visits, "a request got through all the same"
        assert case.expected in reasons and None not in reasons, (outcome.text, new)
    return case.expected, outcome


def captured_verdict(case, place):
    """The same for the client in `stile run` that is told of no proxy. "–": it is about the proxy itself."""
    if case.direct is None:
        return "–"
    visits = place.visits()
    outcome, lines = case.run_captured(place.captured)
    reasons = {line.get("reason") for line in lines}
    methods = {line["method"] for line in lines if line["scheme"] == "connect"}
    assert methods <= {"TCP"}, lines
    if case.expected == WORKS:
        assert outcome.is_fine and reasons == {None}, f"{outcome.text}\n{lines}"
        return WORKS
    assert not outcome.is_fine and place.visits() == visits, outcome.text
    assert reasons == {case.expected}, (outcome.text, lines)
    return f"refused: {case.expected}"


def refused_verdict(case, place):
    """What a client says that asks for a host that is not on the list."""
    lines = len(lines_of(place, 0))
    outcome = case.run(place, REFUSED)
    new = lines_of(place, lines)
    assert not outcome.is_fine, outcome.text
    assert new and {line["reason"] for line in new} == {"host-not-allowed"}, (outcome.text, new)
    assert place.trap.connections == [] and place.http_trap.connections == []
    return outcome


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_client_works_for_an_allowed_host_and_not_for_a_refused_one(place, case):
    if not case.is_installed():
        assert case.program in OPTIONAL, f"{case.program} is missing: scripts/packages test"
        ROWS[case.name] = table.read()[case.name]
        pytest.skip(f"{case.program} is not installed, and optional")
    allowed, outcome = allowed_verdict(case, place)
    told, sees = "–", "–"
    if case.refusable:
        outcome = refused_verdict(case, place)
        told = how_told(outcome.text)
    if case.refusable or allowed != WORKS:
        sees = seen(outcome.text, place)
    verdict = allowed if allowed == WORKS else f"refused: {allowed}"
    captured = captured_verdict(case, place)
    ROWS[case.name] = table.Row(case.client, case.version_text(), case.what, verdict, captured, told, sees)
    if not os.environ.get("STILE_WRITE_MATRIX"):
        recorded = table.read().get(case.name)
        assert recorded and recorded.verdict() == ROWS[case.name].verdict(), (
            f"docs/compatibility.md says otherwise: {recorded}, now {ROWS[case.name]}")


def test_page_has_these_clients_and_no_others(place):
    names = [case.name for case in CASES]
    if os.environ.get("STILE_WRITE_MATRIX") and set(ROWS) == set(names):
        table.write([ROWS[name] for name in names])
    assert list(table.read()) == names
