"""What `cmake --install` lays down, and what the Debian package says of it."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from harness.stiled import binary, build_folder

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "cmake" / "debian"


def install(root, prefix="/usr", components=("daemon", "netns", "doc")):
    binary("stiled")  # says what is missing, if it is not built
    for component in components:
        subprocess.run(["cmake", "--install", build_folder(), "--prefix", prefix, "--component",
                        component], env={**os.environ, "DESTDIR": str(root)}, check=True,
                       stdout=subprocess.DEVNULL)
    return root


@pytest.fixture(scope="module")
def installed(run_folder):
    return install(run_folder / "installed")


def files(root):
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def test_programs_units_and_pages_are_where_they_are_looked_for(installed):
    found = files(installed)
    assert {"usr/sbin/stiled", "usr/sbin/stile-netns", "usr/sbin/stile-web", "usr/sbin/stile-fleet", "usr/bin/stile",
            "usr/lib/sysusers.d/stile.conf", "usr/lib/tmpfiles.d/stile.conf",
            "etc/stile/stile.toml"} <= found
    for unit in (ROOT / "systemd").glob("*.s*[et]"):
        assert f"usr/lib/systemd/system/{unit.name}" in found
    for page in (ROOT / "man").iterdir():
        assert f"usr/share/man/man{page.suffix[1:]}/{page.name}" in found


def test_each_shell_finds_the_completion_of_each_program(installed):
    shared = installed / "usr/share"
    script = (shared / "bash-completion/completions/stile").read_text()
    for program in re.search(r"^complete -F _stile (.*)$", script, re.M)[1].split():
        assert (shared / "bash-completion/completions" / program).is_file(), program
        assert (shared / f"fish/vendor_completions.d/{program}.fish").is_file(), program
        for directory in ("vendor-completions", "site-functions"):
            assert program in (shared / f"zsh/{directory}/_stile").read_text().splitlines()[0].split()


@pytest.mark.parametrize("prefix", ["/usr", "/usr/local", "/opt/stile"])
def test_units_and_logrotate_name_programs_that_are_installed(run_folder, prefix):
    root = install(run_folder / f"installed{prefix.replace('/', '-')}", prefix, ("daemon", "netns"))
    units = [*(root / prefix[1:] / "lib/systemd/system").iterdir()]
    assert len(units) == len([*(ROOT / "systemd").glob("*.s*[et]")])
    for file in [*units, root / "etc/logrotate.d/stile"]:
        programs = re.findall(r"/\S*/s?bin/stile\S*", file.read_text())
        assert programs or file.suffix == ".socket"
        for program in programs:
            assert (root / program[1:]).is_file(), f"{file.name}: {program}"


def test_everything_below_etc_is_a_conffile(installed):
    below_etc = {f"/{name}" for name in files(installed) if name.startswith("etc/")}
    conffiles = (build_folder() / "debian" / "conffiles").read_text().split()
    assert sorted(below_etc) == sorted(conffiles)


def test_an_operators_config_is_not_written_over(installed):
    config = installed / "etc/stile/stile.toml"
    was = config.read_text()
    config.write_text("# mine\n")
    install(installed, components=("daemon",))
    assert config.read_text() == "# mine\n"
    config.write_text(was)


def test_links_between_the_installed_pages_lead_somewhere(installed):
    documents = installed / "usr/share/doc/stile"
    for page in documents.rglob("*.md"):
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            assert "://" in link or (page.parent / link).exists(), f"{page.name}: {link}"


@pytest.mark.parametrize("name", ["postinst", "prerm", "postrm"])
def test_maintainer_script_is_a_sound_shell_script(name):
    script = SCRIPTS / name
    assert os.access(script, os.X_OK)
    text = script.read_text()
    assert text.startswith("#!/bin/sh\n") and "\nset -e\n" in text
    done = subprocess.run(["sh", "-n", script], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_maintainer_scripts_know_every_unit_that_starts_by_itself():
    started = [unit.name for unit in (ROOT / "systemd").glob("*.s*[et]")
               if "@" not in unit.name and "WantedBy=" in unit.read_text()]
    assert started
    for name in ("postinst", "prerm", "postrm"):
        text = (SCRIPTS / name).read_text()
        assert all(unit in text for unit in started), name
