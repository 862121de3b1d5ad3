"""What nearly every test says about a refusal: one answer, one line, and nothing anywhere else."""

import json

import pytest

from harness.stiled import build_folder

# Its shadow memory counts as resident, and is a multiple of what the program uses.
measures_memory = pytest.mark.skipif(build_folder().name == "tsan", reason="the thread sanitizer needs more memory")

STATUS = {
    "bad-request": 400, "rate-limited": 429, "too-many-connections": 429, "budget-exhausted": 429,
    "dns-failure": 502, "origin-unreachable": 502, "origin-timeout": 504,
    "origin-bad-response": 502, "audit-unavailable": 503, "overloaded": 503, "draining": 503,
    "host-mismatch": 421, "body-too-large": 413, "origin-certificate": 502,
    "header-timeout": 408, "header-too-large": 431, "internal-error": 500,
}


def status_of(reason):
    return STATUS.get(reason, 403)


def assert_refusal(response, reason):
    """The answer says the reason in all the places where clients look."""
    assert response is not None, f"no answer, expected {reason}"
    assert (response.status, response.reason) == (status_of(reason), reason), response
    assert response.phrase == reason
    assert response.complete
    body = json.loads(response.body)
    assert body["error"] == reason
    return body


def verdict(proxy, world, host, agent="alpha"):
    """The reason of a refusal, or None for what is let through."""
    answer = proxy.connect(host, world.port, agent)
    if answer is None:
        return "no answer"  # the agent was removed before its request was read
    return None if answer.status == 200 else answer.reason


def assert_denied(proxy, response, reason, **fields):
    """A refusal, whose line was in the log before the answer came: so it is not waited for."""
    assert_refusal(response, reason)
    line = proxy.audit.only(event="deny", reason=reason, **fields)
    assert line["status"] == response.status, line
    return line


def assert_untouched(*origins):
    """None of them has met a connection, let alone a byte."""
    for origin in origins:
        assert origin.connections == [], f"{origin.address} was dialled: {origin.received!r}"
