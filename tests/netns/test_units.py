"""The files for systemd: it reads them, and they say what the code does."""

import re
import shutil
import subprocess

import pytest

from lab.host import ROOT

UNITS = ["stile-fence.service", "stile-agent@.service"]
SYSTEMD = ROOT / "systemd"


@pytest.fixture
def image(tmp_path):
    """A root directory with our units, and what they start."""
    folder = tmp_path / "lib/systemd/system"
    folder.mkdir(parents=True)
    shutil.copytree("/lib/systemd/system", folder, dirs_exist_ok=True, symlinks=True)
    for name in UNITS:
        shutil.copy(SYSTEMD / name, folder)
    for program in ("stile-netns", "stiled"):
        path = tmp_path / "usr/sbin" / program
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("unit", ["stile-fence.service", "stile-agent@alpha.service"])
def test_systemd_finds_nothing_wrong(image, unit):
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", f"--root={image}", unit],
                          capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_fence_is_hardened(image):
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", f"--root={image}", "stile-fence.service"],
                          capture_output=True, text=True, check=True)
    exposure = float(re.search(r"Overall exposure level[^:]*: ([0-9.]+)", done.stdout)[1])
    assert exposure <= 2.5, done.stdout


def test_directories_belong_to_root_where_root_reads(image):
    text = (SYSTEMD / "tmpfiles.d/stile.conf").read_text()
    rows = {line.split()[1]: line.split()[2:5] for line in text.splitlines() if line.startswith("d ")}
    assert rows["/run/stile"] == ["0755", "root", "root"]
    assert rows["/run/stile/agents.d"] == ["0750", "root", "stile"]
    assert rows["/run/stile/netns"] == ["0700", "root", "root"]


def test_users_and_directories_can_be_made(tmp_path):
    if shutil.which("systemd-sysusers") is None:
        pytest.skip("no systemd-sysusers here")
    for name in ("etc", "run"):
        (tmp_path / name).mkdir()
    subprocess.run(["systemd-sysusers", f"--root={tmp_path}", SYSTEMD / "sysusers.d/stile.conf"], check=True)
    assert "stile-admin:" in (tmp_path / "etc/group").read_text()
    (tmp_path / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\n" + (tmp_path / "etc/passwd").read_text())
    (tmp_path / "etc/group").write_text("root:x:0:\n" + (tmp_path / "etc/group").read_text())
    subprocess.run(["systemd-tmpfiles", "--create", f"--root={tmp_path}", SYSTEMD / "tmpfiles.d/stile.conf"], check=True)
    assert (tmp_path / "run/stile/agents.d").stat().st_mode & 0o777 == 0o750


def test_sysctls_are_those_that_the_tool_sets():
    source = (ROOT / "netns/sysctl.cc").read_text()
    table = source[source.index("shut{{"):source.index("}};")]
    in_code = set(re.findall(r'\{"(ipv[46])", "(\w+)", "(\d)"\}', table))
    text = (SYSTEMD / "sysctl.d/60-stile.conf").read_text()
    in_file = set(re.findall(r"^net\.(ipv[46])\.conf\.stile-\*\.(\w+) = (\d)$", text, re.MULTILINE))
    assert in_file == in_code and len(in_code) > 8
