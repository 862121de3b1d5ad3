"""Completion in bash, zsh and fish, tried as these shells do it."""

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
    (("stile", "fleet", ""), {"keygen", "sign", "publish", "status", "offline", "online"}, {"fleet"}),
    (("stile-fleet", "--"), {"--config", "--socket"}, {"fleet"}),
    (("stile-spawner", "--"), {"--config", "--check", "--socket"}, {"fleet"}),
    (("stile-web", "--"), {"--listen", "--origin", "--login"}, {"check"}),
    (("stile-netns", ""), {"create", "delete", "exec", "check"}, {"--json"}),
    (("stile-netns", "create", "alpha", "--"), {"--allow", "--card", "--ttl"}, {"--kill"}),
]


@pytest.mark.parametrize("words, offered, not_offered", CASES)
def test_bash_offers_what_help_names(words, offered, not_offered):
    assert len(complete(*words)) == len(set(complete(*words)))
    found = set(complete(*words))
    assert offered <= found and not not_offered & found, found


def fish(program, line, folder):
    """What fish offers at the end of the line."""
    script = f"source {COMPLETIONS}/stile.fish; complete -C '{line}'"
    done = subprocess.run(["fish", "--no-config", "-c", script], text=True, capture_output=True, check=True,
                          env={"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(folder),
                               "STILE_NETNS_DIR": str(folder / "netns")})
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


def zsh(program, words):
    """What zsh is given for the last word: the builtins that take it are replaced."""
    quoted = " ".join(f"'{word}'" for word in (program, *words[1:]))
    script = (f"compadd() {{ print -l -- ${{(M)found:#$PREFIX*}} }}; _describe() {{ print -l -- ${{lines%%:*}} }}; "
              f"_files() {{ print files }}; _normal() {{ print -- $words[CURRENT] }}; "
              f"words=({quoted}); CURRENT=$#words; PREFIX=$words[-1]; source {COMPLETIONS}/_stile")
    done = subprocess.run(["zsh", "-f", "-c", script], text=True, capture_output=True, check=True)
    return done.stdout.split()


@pytest.fixture
def fake(tmp_path):
    """A `stile` that knows two agents, grants, profiles and workers; also as stile-netns."""
    program = tmp_path / "stile"
    program.write_text("""#!/bin/sh
case $* in
  --help) printf 'Subcommands:\\n  allow   let an agent reach hosts\\n  mode   the switch\\n  revoke   take back\\n  delete   an agent\\n  run   run\\n  stop   end\\n' ;;
  'allow --help') printf 'Usage: stile allow [OPTIONS] AGENT HOST...\\n' ;;
  'mode --help') printf 'Usage: stile mode [OPTIONS] MODE [AGENT]\\n' ;;
  'revoke --help') printf 'Usage: stile revoke [OPTIONS] AGENT [HOST...]\\n  --grant TEXT\\n  --socket TEXT\\n' ;;
  'run --help') printf 'Usage: stile run [OPTIONS]\\n  --profile NAME   a known agent\\n' ;;
  'stop --help') printf 'Usage: stile stop [OPTIONS] [WORKER...]\\n' ;;
  profile) printf 'PROFILE  ABOUT\\nclaude   Claude Code\\nshell    a shell\\n' ;;
  workers) printf 'WORKER  STATUS\\nnightly-1  running\\n' ;;
  'delete --help') printf 'Usage: stile-netns delete [OPTIONS] ID\\n' ;;
  agents) printf 'AGENT  MODE\\nalpha  enforce\\nbeta   enforce\\n' ;;
  'agents alpha') printf 'alpha, mode enforce\\n\\nGRANT  HOSTS\\n7f3a   a.test\\n81b2   b.test\\n' ;;
esac
""")
    program.chmod(0o755)
    (tmp_path / "stile-netns").symlink_to(program)
    (tmp_path / "netns").mkdir()
    for name in ("agent-alpha", "agent-gamma", "other"):
        (tmp_path / "netns" / name).touch()
    return program


LIVE = [
    (("stile", "allow", ""), ["alpha", "beta"]),
    (("stile", "allow", "b"), ["beta"]),
    (("stile", "mode", ""), ["enforce", "observe", "offline"]),
    (("stile", "mode", "offline", ""), ["alpha", "beta"]),
    (("stile", "revoke", "alpha", "--grant", ""), ["7f3a", "81b2"]),
    (("stile", "revoke", "--socket", "/x.sock", ""), ["alpha", "beta"]),
    (("stile", "run", "--profile", ""), ["claude", "shell"]),
    (("stile", "stop", "nightly-1", "n"), ["nightly-1"]),
    (("stile-netns", "delete", ""), ["alpha", "gamma"]),
]


@pytest.mark.parametrize("words, offered", LIVE)
def test_agents_grants_modes_and_namespaces_are_offered(fake, tmp_path, monkeypatch, words, offered):
    monkeypatch.setenv("STILE_NETNS_DIR", str(tmp_path / "netns"))
    program = fake.parent / words[0]
    assert sorted(complete(*words, program=program)) == offered
    assert sorted(fish(program, " ".join(words), tmp_path)) == offered
    assert sorted(zsh(program, words)) == offered


def test_what_follows_two_hyphens_is_completed_as_a_command_of_its_own(fake, tmp_path):
    words = ("stile", "run", "--", "basena")
    assert complete(*words, program=fake) == ["basename"]
    assert fish(fake, " ".join(words), tmp_path) == ["basename"]
    assert zsh(fake, words) == ["basena"]  # handed on to zsh


@pytest.mark.parametrize("shell, file", [("bash", "stile.bash"), ("zsh", "_stile"), ("fish", "stile.fish")])
def test_file_parses(shell, file):
    done = subprocess.run([shell, "-n", COMPLETIONS / file], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
