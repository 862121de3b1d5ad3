"""scripts/count-tests decides whether a change lands: it must not call silence a success."""

import pathlib
import subprocess
import sys

import pytest

COUNT_TESTS = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts/count-tests"

PASSED = "<testcase name='a' status='run'/>"
FAILED = "<testcase name='b'><failure message=''/></testcase>"
ERROR = "<testcase name='c'><error message='in a fixture'/></testcase>"
SKIPPED = "<testcase name='d'><skipped message='SKIP_REGULAR_EXPRESSION_MATCHED'/></testcase>"
NOT_BUILT = "<testcase name='e' status='notrun'><skipped message='Unable to find executable'/></testcase>"
DISABLED = "<testcase name='f' status='disabled'/>"


def count(folder, *options):
    return subprocess.run([sys.executable, COUNT_TESTS, *options, folder], capture_output=True, text=True)


@pytest.mark.parametrize(
    "cases, total, status",
    [
        ([PASSED], "1 passed, 0 failed", 0),
        ([PASSED, SKIPPED, DISABLED], "1 passed, 0 failed", 0),
        ([PASSED, PASSED, FAILED], "2 passed, 1 failed", 1),
        ([PASSED, ERROR], "1 passed, 1 failed", 1),
        ([PASSED, NOT_BUILT], "1 passed, 1 failed", 1),
        ([SKIPPED], "0 passed, 0 failed", 1),
        ([], "0 passed, 0 failed", 1),
    ],
)
def test_total_and_status(tmp_path, cases, total, status):
    (tmp_path / "dev-unit.xml").write_text(f"<testsuite>{''.join(cases)}</testsuite>")
    done = count(tmp_path, "--total")
    assert (done.stdout, done.returncode) == (total + "\n", status)


def test_no_results_at_all_fail(tmp_path):
    assert count(tmp_path).returncode == 1


def test_a_result_file_that_was_cut_off_counts_as_a_failure(tmp_path):
    (tmp_path / "dev-unit.xml").write_text(f"<testsuite>{PASSED}")
    assert count(tmp_path, "--total").returncode == 1


def test_a_step_that_failed_without_results_counts_as_a_failure(tmp_path):
    (tmp_path / "dev-unit.xml").write_text(f"<testsuite>{PASSED}</testsuite>")
    (tmp_path / "failed-steps").write_text("asan-build\n")
    assert count(tmp_path, "--total").stdout == "1 passed, 1 failed\n"


@pytest.mark.parametrize("file", ["dev-unit", "dev-unit-acl"])
def test_a_failed_step_with_failed_tests_counts_them_once(tmp_path, file):
    (tmp_path / f"{file}.xml").write_text(f"<testsuite>{PASSED}{FAILED}</testsuite>")
    (tmp_path / "failed-steps").write_text("dev-unit\n")
    assert count(tmp_path, "--total").stdout == "1 passed, 1 failed\n"


def test_the_last_lines_have_the_output_and_the_name_of_each_failed_test(tmp_path):
    case = "<testcase classname='fuzz' name='card'><failure message='m'>stack\nAAEC</failure></testcase>"
    (tmp_path / "fuzz.xml").write_text(f"<testsuite>{PASSED}{case}</testsuite>")
    (tmp_path / "dev-unit.xml").write_text(f"<testsuite>{PASSED}{FAILED}</testsuite>")
    (tmp_path / "failed-steps").write_text("fuzz\nasan-build\n")
    lines = count(tmp_path).stdout.splitlines()
    assert lines[-3:] == ["FAILED dev-unit: b", "FAILED fuzz: fuzz.card", "FAILED asan-build"]
    start = lines.index("--- fuzz: fuzz.card")
    assert lines[start + 1 : start + 3] == ["stack", "AAEC"]
