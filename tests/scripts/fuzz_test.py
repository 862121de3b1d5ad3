"""scripts/fuzz runs the same executions in each clone, and ends with what a failure needs."""

import base64
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FUZZ = ROOT / "scripts/fuzz"

# In place of a fuzzer: fails like libFuzzer, on an input that is the list of its seeds.
FAILING = """#!/bin/sh
for argument; do case $argument in -seed_inputs=@*) seeds=${argument#-seed_inputs=@} ;; esac; done
mkdir -p build/asan/findings
cp "$seeds" build/asan/findings/crash
echo 'INFO: Seed: 1'
echo '==7==ERROR: AddressSanitizer: heap-buffer-overflow'
echo '    #0 0x1 in parse'
echo 'Test unit written to build/asan/findings/crash'
exit 77
"""


@pytest.fixture
def clone(tmp_path):
    (tmp_path / "scripts").mkdir()
    shutil.copy(FUZZ, tmp_path / "scripts/fuzz")
    (tmp_path / "build/asan/tests/fuzz").mkdir(parents=True)
    binary = tmp_path / "build/asan/tests/fuzz/host_fuzz"
    binary.write_text(FAILING)
    binary.chmod(0o755)
    seeds = tmp_path / "tests/fuzz/corpus/host"
    seeds.mkdir(parents=True)
    for name in ["c", "a", "d", "b"]:
        (seeds / name).write_text("x")
    return tmp_path


def test_a_failure_ends_the_output_with_stack_input_and_name(clone):
    done = subprocess.run([sys.executable, clone / "scripts/fuzz", "--runs", "5", "--junit", clone / "fuzz.xml"],
                          capture_output=True, text=True)
    assert done.returncode == 1
    # The seeds are in the order of their names, whatever order the file system has.
    seeds = ",".join(f"tests/fuzz/corpus/host/{name}" for name in "abcd")
    ending = ["==7==ERROR: AddressSanitizer: heap-buffer-overflow", "    #0 0x1 in parse",
              "Test unit written to build/asan/findings/crash",
              f"build/asan/findings/crash, {len(seeds)} bytes, in base64:",
              base64.b64encode(seeds.encode()).decode(), "fuzzer host failed"]
    assert done.stdout.splitlines()[-6:] == ending
    assert xml.parse(clone / "fuzz.xml").find("testcase/failure").text.splitlines() == ending


# Ten milliseconds for each input, and the time of day once.
SLOW = """#include <unistd.h>
#include <chrono>
#include <cstdint>
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t*, std::size_t) {
  ::usleep(10000);
  return std::chrono::system_clock::now() < std::chrono::system_clock::time_point{} ? -1 : 0;
}
"""


def test_a_slow_fuzzer_ends_after_the_time_that_it_was_given(tmp_path):
    (tmp_path / "slow_fuzz.cc").write_text(SLOW)
    subprocess.run(["clang++", "-std=c++20", "-fsanitize=fuzzer", "-Wl,--wrap=LLVMFuzzerTestOneInput", "slow_fuzz.cc",
                    ROOT / "tests/fuzz/fixed_inputs.cc", "-o", "slow_fuzz"], cwd=tmp_path, check=True)
    subprocess.run(["./slow_fuzz", "-max_total_time=1"], cwd=tmp_path, check=True, timeout=30, capture_output=True)
