"""Completion in bash, tried as bash does it; the other shells read their files."""

import subprocess
from pathlib import Path

import pytest
from harness.stiled import binary

COMPLETIONS = Path(__file__).resolve().parents[2] / "deploy" / "completions"


def complete(*words, program=None):
    """What bash offers for the last word."""
    program = program or binary(words[0])
    quoted = " ".join(f"'{word}'" for word in (program, *words[1:]))
    script = (f"source {COMPLETIONS}/stile.bash; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
              f"_stile {program}; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    done = subprocess.run(["bash", "-c", script], text=True, capture_output=True, check=True)
    return done.stdout.split()


CASES = [
    (("stile", ""), {"check", "audit"}, {"--help", "verify"}),
    (("stile", "au"), {"audit"}, {"check"}),
    (("stile", "audit", ""), {"verify", "show"}, {"audit", "check"}),
    (("stile", "audit", "verify", "--"), {"--head", "--help"}, {"--denied"}),
    (("stile", "check", "--e"), {"--effective"}, {"--help"}),
    (("stiled", "--"), {"--check", "--config", "--version"}, {"check"}),
    (("stile-netns", ""), {"create", "delete", "exec", "check"}, {"--json"}),
    (("stile-netns", "create", "alpha", "--"), {"--allow", "--card", "--ttl"}, {"--kill"}),
]


@pytest.mark.parametrize("words, offered, not_offered", CASES)
def test_bash_offers_what_help_names(words, offered, not_offered):
    found = set(complete(*words))
    assert offered <= found and not not_offered & found, found


def test_bash_offers_the_agents_that_the_daemon_knows(tmp_path):
    program = tmp_path / "stile"
    program.write_text("""#!/bin/sh
case $* in
  --help) printf 'Subcommands:\\n  allow   let an agent reach hosts\\n' ;;
  'allow --help') printf 'Usage: stile allow [OPTIONS] AGENT HOST...\\n' ;;
  agents) printf 'AGENT  MODE\\nalpha  enforce\\nbeta   enforce\\n' ;;
esac
""")
    program.chmod(0o755)
    assert complete("stile", "allow", "", program=program) == ["alpha", "beta"]
    assert complete("stile", "allow", "b", program=program) == ["beta"]


@pytest.mark.parametrize("shell, file", [("bash", "stile.bash"), ("zsh", "_stile"), ("fish", "stile.fish")])
def test_file_parses(shell, file):
    done = subprocess.run([shell, "-n", COMPLETIONS / file], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
