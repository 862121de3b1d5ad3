"""Every C++ file looks as clang-format would write it."""

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDERS = sorted(file.parent.name for file in ROOT.glob("*/CMakeLists.txt"))


@pytest.mark.time_limit(300)
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_source_is_formatted(folder):
    files = [str(file.relative_to(ROOT)) for suffix in ("*.h", "*.cc")
             for file in sorted((ROOT / folder).rglob(suffix))]
    run = subprocess.run(["clang-format", "--dry-run", "-Werror", *files], cwd=ROOT,
                         capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"`make format` mends this:\n{run.stderr[:4000]}"
