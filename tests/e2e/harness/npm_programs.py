"""Programs from npm, installed once below the build."""

import fcntl
import functools
import shutil
import subprocess

import pytest
from .stiled import build_folder

# The suite needs a newer node than Debian has; npm has that, too.
SUITE = ("@modelcontextprotocol/conformance@0.2.0-alpha.12", "node@22")
CLAUDE = ("@anthropic-ai/claude-code@2",)
OPENCODE = ("opencode-ai@1",)


@functools.cache
def problem_of(packages):
    """Installs them; returns why that failed."""
    if not shutil.which("npm"):
        return "npm is not installed"
    folder = folder_of(packages)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the processes of pytest share the folder
        if (folder / "done").exists():
            return None
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", folder, *packages],
                              capture_output=True, text=True, timeout=600)
        if done.returncode:
            return f"npm cannot install {packages[0]}: {done.stderr.strip().splitlines()[-1:]}"
        (folder / "done").touch()
    return None


def folder_of(packages):
    return build_folder().parent / "npm" / packages[0].strip("@").replace("/", "-").replace("@", "-")


def installed(packages):
    """The folder with node_modules, or a skipped test."""
    if problem := problem_of(packages):
        pytest.skip(problem)
    return folder_of(packages) / "node_modules"
