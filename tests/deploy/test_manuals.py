"""The man pages are well-formed, and name everything that the programs take."""

import re
import subprocess
from pathlib import Path

import pytest
from harness.stiled import binary

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "man").iterdir())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_is_well_formed(page):
    for command in (["mandoc", "-T", "lint", "-W", "warning"],
                    ["man", "-l", "--warnings", "-E", "UTF-8", "-Tutf8", "-Z"]):
        done = subprocess.run([*command, page], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        said = done.stderr + (done.stdout if command[0] == "mandoc" else "")
        assert (done.returncode, said) == (0, "")


def test_there_is_a_page_for_each_program_and_the_config():
    assert [page.name for page in PAGES] == ["stile-fleet.8", "stile-netns.8", "stile-spawner.8", "stile-squid.8", "stile-web.8", "stile.1",
                                             "stile.toml.5", "stiled.8"]


def test_page_of_the_config_is_in_step_with_the_reference():
    made = subprocess.run([ROOT / "scripts" / "man-reference"], stdout=subprocess.PIPE, check=True)
    assert made.stdout.decode() == (ROOT / "man/stile.toml.5").read_text(), \
        "run scripts/man-reference >man/stile.toml.5"


def words_of(page):
    """The text of a page as a reader sees it, in words."""
    text = subprocess.run(["mandoc", "-T", "ascii", page], stdout=subprocess.PIPE,
                          check=True).stdout.decode()
    return set(re.findall(r"[\w-]+", re.sub(r".\x08", "", text).replace("-\n", "-")))


def help_of(program, *command):
    return subprocess.run([program, *command, "--help"], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False).stdout


def subcommands(text):
    """The words of the list under `Subcommands:`."""
    part = text.partition("Subcommands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  ([a-z-]+)", part, re.M)


@pytest.mark.parametrize("name, section", [("stiled", 8), ("stile", 1), ("stile-netns", 8),
                                           ("stile-spawner", 8), ("stile-squid", 8), ("stile-web", 8),
                                           ("stile-fleet", 8)])
def test_page_names_every_command_and_option(name, section):
    program = binary(name)
    known = words_of(ROOT / "man" / f"{name}.{section}")
    asked = [()]
    for command in asked:
        text = help_of(program, *command)
        deeper = subcommands(text)
        asked += [(*command, word) for word in deeper]
        named = {*deeper, *re.findall(r"(?<![\w-])--[a-z-]+", text)}
        # The layout of CLI11; a flag that is followed by a capital looks as if it took a value.
        assert not {"Excludes:", "REQUIRED", "Positionals:"} & set(text.split()), text
        assert " TEXT" not in text, f"{' '.join((name, *command))} --help names a value TEXT"
        assert named <= known, f"{' '.join((name, *command))}: {named - known}"
