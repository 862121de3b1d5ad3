"""Each process of pytest-xdist must collect the same tests under the same names, or none of them runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
COLLECT = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", "-p", "no:xdist", "."]


def start_collecting(seed):
    return subprocess.Popen(COLLECT, cwd=TESTS, env={**os.environ, "PYTHONHASHSEED": seed}, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


@pytest.mark.time_limit(300)  # it collects all tests, beside others that run
def test_names_of_tests_hold_no_bytes_and_no_order_of_a_set():
    processes = [start_collecting(seed) for seed in ("1", "2")]
    first, second = ([line for line in process.communicate()[0].splitlines() if "::" in line] for process in processes)
    assert len(first) > 1000, first
    assert first == second
    assert not [name for name in first if "\\x1f\\x8b" in name]
