"""Every C++ file looks as clang-format would write it."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDERS = sorted(file.parent for file in ROOT.glob("*/CMakeLists.txt"))


def test_every_source_is_formatted():
    files = [str(file.relative_to(ROOT)) for folder in FOLDERS for suffix in ("*.h", "*.cc")
             for file in sorted(folder.rglob(suffix))]
    run = subprocess.run(["clang-format", "--dry-run", "-Werror", *files], cwd=ROOT,
                         capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"`make format` mends this:\n{run.stderr[:4000]}"
