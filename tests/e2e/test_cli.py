"""stile: its help, its exit statuses, and what it does without a daemon."""

import json

import pytest
from harness.cli import stile
from harness.config import toml


def commands():
    """The subcommands as the help lists them."""
    listing = stile("--help").out.partition("Subcommands:")[2]
    return [line.split()[0] for line in listing.splitlines() if line.startswith("  ") and line[2] != " "]


def test_fleet_without_its_config_says_how_to_name_it(tmp_path):
    done = stile("fleet", "status", "-c", tmp_path / "none.toml")
    assert done.code == 1 and "note: name a file with the section [fleet]: -c FILE" in done.err


def test_version():
    done = stile("--version")
    assert done.code == 0 and done.out.startswith("stile ")


def test_options_without_a_command_are_those_of_status(tmp_path):
    done = stile("--json", "--socket", tmp_path / "none.sock")
    assert done.code == 3 and json.loads(done.out)["error"]["code"] == "no-daemon", done
    assert "stile status: unknown option '--jason'; did you mean '--json'?" in stile("--jason").err


def test_every_command_is_in_the_help_and_has_help_with_an_example():
    names = commands()
    assert {"check", "audit"} <= set(names)
    for name in names:
        done = stile(name, "--help")
        assert done.code == 0
        assert f"stile {name}" in done.out, name
        for mark in ("UINT", " VALUE", ":INT", ":{", " TEXT"):
            assert mark not in done.out, done.out


@pytest.mark.parametrize("arguments", [["no-such-command"], ["--no-such-flag"], ["check", "a", "b"],
                                       ["audit"]])
def test_misuse_is_status_2_with_a_word_on_stderr(arguments):
    done = stile(*arguments)
    assert done.code == 2 and done.err and not done.out


@pytest.mark.parametrize("arguments, said", [
    (["tial"], "stile: unknown command 'tial'; did you mean 'tail'?"),
    (["xyzzy-quux"], "stile: unknown command 'xyzzy-quux'\n"),
    (["--josn"], "stile status: unknown option '--josn'"),
    (["allow", "a", "b.test", "--max-requests", "0"], "--max-requests: must be a number, at least 1\n"),
    (["allow", "a", "b.test", "--max-requests", "-1"], "--max-requests: must be a number, at least 1\n"),
    (["allow", "a", "b.test", "--max-requests", "many"], "--max-requests"),
    (["audit", "shwo"], "stile audit: unknown command 'shwo'; did you mean 'show'?"),
    (["audit"], "stile audit: a command is missing: verify, show"),
    (["budget"], "stile budget: a command is missing: reset"),
    (["tail", "--agnet", "alpha"], "stile tail: unknown option '--agnet'; did you mean '--agent'?"),
    (["check", "a", "b"], "stile check: 'b' is one argument too many"),
    (["check", "-z"], "stile check: unknown option '-z'"),
    (["mode", "of"], "'of' is not one of enforce, observe, offline"),
    (["allow", "alpha"], "stile allow: HOST is required"),
    (["revoke", "alpha"], "stile revoke: HOST or --grant is missing"),
    (["help", "tial"], "stile: unknown command 'tial'; did you mean 'tail'?"),
    (["tial", "--help"], "stile: unknown command 'tial'; did you mean 'tail'?"),
])
def test_misuse_names_the_word_and_the_nearest_that_is_right(arguments, said):
    done = stile(*arguments)
    assert done.code == 2 and said in done.err and "next: stile" in done.err, done.err
    command = done.err.partition("next: ")[2].split()
    assert stile(*command[1:]).code == 0, "the advice is no command either"


def test_help_and_version_are_commands_too():
    assert stile("help").out == stile("--help").out
    assert stile("help", "allow").out == stile("allow", "--help").out
    assert stile("help", "audit", "show").out == stile("audit", "show", "--help").out
    assert stile("version").out == stile("--version").out


def test_check_tells_of_a_good_config(world):
    world.agent("alpha", allow=["o.test"])
    done = stile("check", world.write("stile.toml", toml(world.settings())))
    assert done.code == 0 and "is fine" in done.out and "agents     1" in done.out


def test_check_tells_all_errors_at_once(world):
    done = stile("check", world.write("stile.toml", '[egress]\nmode = "x"\n[dns]\nsevers = []\n'))
    assert done.code == 1
    assert "stile.toml:2" in done.err and "did you mean servers" in done.err


def test_check_effective_prints_the_merged_policy(world):
    world.agent("alpha", allow=["o.test"])
    path = world.write("stile.toml", toml(world.settings(egress={"deny": ["bad.test"]})))
    done = stile("check", "--effective", path)
    assert done.code == 0 and '"o.test"' in done.out and '"bad.test"' in done.out


def written_log(world):
    """The log of a daemon that has refused one request and ended."""
    world.agent("alpha", allow=["o.test"])
    proxy = world.start()
    proxy.connect("x.test", world.port)
    proxy.stop()
    return proxy.audit.path


def test_audit_verify_and_show_read_what_the_daemon_wrote(world):
    log = written_log(world)
    assert stile("audit", "verify", log).code == 0
    shown = stile("audit", "show", "--agent", "alpha", "--denied", log)
    assert shown.code == 0
    assert "x.test" in shown.out and "host-not-allowed" in shown.out
    assert len(shown.out.splitlines()) == 1
    assert "x.test" not in stile("audit", "show", "--since", "2099-01-01T00:00:00Z", log).out
    assert "x.test" in stile("audit", "show", "--since", "10m", log).out
    assert stile("audit", "show", "--since", "yesterday", log).code == 2


def test_audit_show_of_nobody_says_who_is_there(world):
    log = written_log(world)
    done = stile("audit", "show", "--agent", "nobody", log)
    assert done.out == "" and "the log has lines of 'alpha'" in done.err



def test_offline_commands_speak_json(world):
    bad = world.write("bad.toml", '[egress]\nmode = "x"\n')
    checked = stile("check", "--json", bad)
    assert checked.code == 1
    answer = json.loads(checked.out)
    assert not answer["ok"] and "bad.toml:2" in answer["problems"][0]
    log = written_log(world)
    assert json.loads(stile("audit", "verify", "--json", log).out)["ok"]
    shown = stile("audit", "show", "--json", "--denied", log).out
    assert json.loads(shown)["reason"] == "host-not-allowed"
    assert shown in log.read_text()


def test_audit_verify_names_the_line_that_was_changed(world):
    log = written_log(world)
    copy = world.write("changed.jsonl", log.read_text().replace("x.test", "y.test", 1))
    done = stile("audit", "verify", copy)
    assert done.code == 1 and "changed.jsonl:" in done.err


def test_audit_verify_compares_with_the_head_from_the_journal(world):
    log = written_log(world)
    said = [line for line in world.proxies[0].log_text().splitlines() if "audit: stopped" in line]
    head = said[-1].rsplit(" ", 1)[1]
    assert stile("audit", "verify", "--head", head, log).code == 0
    assert stile("audit", "verify", "--head", "0" * 64, log).code == 1
