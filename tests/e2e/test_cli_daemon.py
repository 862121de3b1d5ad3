"""stile and the real daemon: what an operator types, sees, and brings about."""

import grp
import json
import os
import signal
import subprocess

import pytest
from harness.checks import assert_refusal
from harness.cli import Operator, stile_as_nobody
from harness.config import toml
from harness.origin import echo
from harness.wait import until


@pytest.fixture
def town(world):
    """Two agents, two origins; alpha may reach one of them. Gives (world, proxy, stile)."""
    world.tls_origin("o.test")
    world.tls_origin("n.test")
    world.agent("alpha", allow=["o.test"], bytes_up="50MiB")
    world.agent("beta", allow=["o.test"])
    proxy = world.start(server={"control": world.short_path("control.sock")})
    return world, proxy, Operator(proxy)


def reaches(town, host, agent="alpha"):
    world, proxy, _ = town
    return proxy.curl(f"https://{host}:{world.port}/", agent=agent).out == b"ok"


def test_status_is_what_stile_says_without_an_argument(town):
    world, proxy, stile = town
    assert reaches(town, "o.test") and not reaches(town, "n.test")
    text = stile.does()
    assert "mode enforce" in text and "agents    2" in text
    assert "1 allowed, 1 denied" in text
    assert json.loads(stile.does("status", "--json"))["generation"] >= 1


def test_status_shows_refused_cards(world):
    cards = world.folder / "cards"
    cards.mkdir()
    (cards / "bad.json").write_text('{"agent_id": "bad", "sorce": []}')
    proxy = world.start(server={"control": world.short_path("control.sock")},
                        agents={"directories": [str(cards)]})
    text = Operator(proxy).does("status")
    assert "\\x0a" not in text and "1 tunnels" not in text
    assert "card refused" in text and "bad.json" in text and "note: fix the cards" in text
    assert "card refused" in Operator(proxy).does("reload")
    checked = Operator(proxy)("check", proxy.config)
    assert checked.code == 1 and "bad.json:1:" in checked.err and "fine" not in checked.out


def test_agents_lists_all_and_shows_one(town):
    _, _, stile = town
    rows = stile.does("agents").splitlines()
    assert rows[0].split()[:2] == ["AGENT", "MODE"]
    assert [row.split()[:2] for row in rows[1:]] == [["alpha", "enforce"], ["beta", "enforce"]]
    text = stile.does("agents", "alpha")
    assert "o.test" in text and "50.0 MiB of 50.0 MiB" in text and "stile.toml:" in text
    assert json.loads(stile.does("agents", "alpha", "--json"))["agent"]["id"] == "alpha"


def test_agent_with_a_slip_in_its_name(town):
    done = town[2]("agents", "alhpa")
    assert done.code == 1
    assert "did you mean alpha?" in done.err and "next: stile agents" in done.err


def test_allow_and_revoke(town):
    world, _, stile = town
    assert not reaches(town, "n.test")
    text = stile.does("allow", "alpha", "n.test", "--for", "10m", "--max-requests", "5",
                      "--bytes-up", "5MiB", "--reason", "ticket 7")
    assert "for 10m" in text and "5 requests" in text
    assert reaches(town, "n.test") and not reaches(town, "n.test", "beta")
    shown = stile.does("agents", "alpha")
    assert "n.test" in shown and "ticket 7" in shown and "9m" in shown
    grant = text.split("--grant ")[1].strip()
    assert "ended" in stile.does("revoke", "alpha", "--grant", grant)
    assert not reaches(town, "n.test")


def test_allow_of_what_the_policy_allows_makes_no_grant(town):
    stile = town[2]
    assert "alpha may already reach o.test, by the rule o.test" in stile.does("allow", "alpha", "o.test")
    assert json.loads(stile.does("allow", "alpha", "o.test", "--json")) == {
        "ok": True, "already_allowed_by": ["o.test"]}
    assert json.loads(stile.does("agents", "alpha", "--json"))["agent"]["grants"] == []


def test_revoke_of_what_the_policy_allows_is_a_deny_until_allowed_again(town):
    stile = town[2]
    text = stile.does("revoke", "alpha", "o.test")
    assert "undo: stile allow alpha o.test" in text
    assert not reaches(town, "o.test") and reaches(town, "o.test", "beta")
    assert "no longer revoked: o.test" in stile.does("allow", "alpha", "o.test")
    assert reaches(town, "o.test")
    assert json.loads(stile.does("agents", "alpha", "--json"))["agent"]["grants"] == []


def test_grant_does_not_beat_a_deny_rule(world):
    world.agent("alpha", allow=[], deny=["bad.test"])
    proxy = world.start(server={"control": world.short_path("control.sock")})
    done = Operator(proxy)("allow", "alpha", "bad.test")
    assert done.code == 1 and "note: remove the deny rule" in done.err


def test_mode_is_the_switch(town):
    stile = town[2]
    assert "undo: stile mode enforce alpha" in stile.does("mode", "offline", "alpha")
    assert not reaches(town, "o.test") and reaches(town, "o.test", "beta")
    stile.does("mode", "enforce", "alpha")
    assert reaches(town, "o.test")
    stile.does("mode", "offline")
    assert not reaches(town, "o.test", "beta")


def test_put_agent_and_remove_agent(town):
    world, proxy, stile = town
    world.addresses["gamma"] = world.site.new_agent_address()
    card = {"agent_id": "gamma", "source": [world.addresses["gamma"]], "allowed_hosts": ["o.test"]}
    text = stile.does("put-agent", world.write("gamma.json", json.dumps(card, indent=2)))
    assert "stile agents gamma" in text
    assert reaches(town, "o.test", "gamma")
    stile.does("remove-agent", "gamma")
    assert_refusal(proxy.connect("o.test", world.port, agent="gamma"), "unknown-agent")


@pytest.mark.parametrize("text, said", [
    ("no json", "standard input is not a JSON object"), ('{"agent_id": "x", "sorce": []}', "source"),
    ('{"agent_id": "x", "agent_id": "y", "source": []}', "twice")])
def test_put_agent_refuses_a_bad_card(town, text, said):
    done = town[2]("put-agent", "-", data=text)
    assert done.code == 1 and said in done.err, done
    assert "next: jq" not in done.err, "there is no file to look at"


def test_put_agent_says_why_a_card_cannot_be_read(town, tmp_path):
    for path, why in [(tmp_path / "none.json", "No such file or directory"), (tmp_path, "Is a directory")]:
        done = town[2]("put-agent", path)
        assert done.code == 1 and f"{path}: {why}" in done.err and f"next: ls -l {path}" in done.err, done


def test_a_mode_without_effect_is_not_reported_as_one(town):
    """Offline anywhere wins."""
    stile = town[2]
    assert stile.does("mode", "offline").startswith("all agents are in mode offline\n")
    said = stile.does("mode", "enforce", "alpha")
    assert "has no effect yet" in said and "alpha is in mode" not in said
    command = said.rsplit("to end it: ", 1)[1].split()
    stile.does(*command[1:])
    assert reaches(town, "o.test")


def test_agents_shows_only_columns_that_are_used(town):
    stile = town[2]
    titles = stile.does("agents").splitlines()[0]
    assert "WOULD DENY" not in titles and "LEFT ON HOSTS" not in titles
    stile.does("mode", "observe", "alpha")
    assert "WOULD DENY" in stile.does("agents").splitlines()[0]


def test_a_grant_that_does_not_exist_leads_to_those_that_do(town):
    done = town[2]("revoke", "alpha", "--grant", "123")
    assert done.code == 1 and "next: stile agents alpha" in done.err


def test_budget_reset(town):
    assert "the budgets of alpha are full again" in town[2].does("budget", "reset", "alpha")
    done = town[2]("budget", "reset", "nobody")
    assert done.code == 1 and "nobody" in done.err
    done = town[2]("budget", "reset", "beta")
    assert done.code == 1 and done.err == "stile: agent beta has no budgets\n  next: stile agents beta\n"
    assert len(town[1].audit.entries(event="grant")) == 1


def test_reload_tells_what_has_changed(town):
    world, proxy, stile = town
    proxy.settings["agent"][0]["allow"] = ["o.test", "n.test"]
    proxy.write_config()
    text = stile.does("reload")
    assert "is in force" in text and ["alpha", "1", "0"] in [row.split() for row in text.splitlines()]
    assert reaches(town, "n.test")
    assert "no agent's rules" in stile.does("reload")


def test_reload_of_a_bad_config_changes_nothing_and_says_where(town):
    _, proxy, stile = town
    proxy.config.write_text(proxy.config.read_text() + "\n[dns]\nsevers = []\n")
    done = stile("reload")
    assert done.code == 1
    assert "\\x0a" not in done.err
    logged = proxy.log_text().partition("reload refused")[2].splitlines()
    assert logged[1].startswith("stiled: error: /") and "?" not in logged[0]
    assert "stile.toml:" in done.err and "next: stile check" in done.err
    assert reaches(town, "o.test")


def test_rotate_reopens_the_log(town):
    _, proxy, stile = town
    old = proxy.audit.path.with_suffix(".1")
    proxy.audit.path.rename(old)
    stile.does("rotate")
    until(proxy.audit.path.exists, 20)
    proxy.stop()
    assert stile("audit", "verify", old, proxy.audit.path).code == 0
    proxy.audit.path.write_bytes(old.read_bytes() + proxy.audit.path.read_bytes())  # for the harness


def test_drain_ends_the_daemon(town):
    _, proxy, stile = town
    stile.does("drain")
    assert proxy.wait_exit(20) == 0
    assert stile("status").code == 3


def test_status_shows_that_the_daemon_drains(world):
    world.tcp_origin("e.test", handler=echo)
    world.agent("alpha", allow=["e.test"])
    proxy = world.start(limits={"drain_timeout_ms": 60000})
    stile = Operator(proxy)
    assert "draining" not in stile.does("status")
    client = proxy.open_tunnel("e.test", world.port)
    client.recv_exactly(len(client.hello))
    stile.does("drain")
    assert "draining: new requests are refused" in stile.does("status")


def test_explain_exits_with_the_verdict(town):
    world, _, stile = town
    allowed = stile("explain", "alpha", f"https://o.test:{world.port}/")
    assert allowed.code == 0 and allowed.out.startswith("allow") and "stile.toml:" in allowed.out
    refused = stile("explain", "alpha", f"o.tset:{world.port}")
    assert refused.code == 1
    assert refused.out.startswith("deny host-not-allowed")
    assert "the nearest is o.test" in refused.out
    assert f"next: stile allow alpha o.tset:{world.port} --for 10m" in refused.out
    by_source = stile("explain", world.addresses["alpha"], f"o.test:{world.port}")
    assert by_source.code == 0
    nobody = stile("explain", "192.0.2.1", "o.test")
    assert nobody.code == 1 and "unknown-agent" in nobody.out and "192.0.2.1 belongs to no agent" in nobody.out
    asked = stile("explain", "alpha", "o.test:22", "--json")
    assert asked.code == 1 and json.loads(asked.out)["reason"] == "port-not-allowed"


def test_explain_says_that_mode_observe_lets_a_request_through(town):
    world, _, stile = town
    stile.does("mode", "observe", "alpha")
    shown = stile("explain", "alpha", f"n.test:{world.port}")
    assert shown.code == 0 and shown.out.startswith("would-deny host-not-allowed")
    assert "Mode observe lets it through all the same." in shown.out


def test_advice_of_explain_can_be_typed(town):
    world, _, stile = town
    said = stile("explain", "alpha", f"https://n.test:{world.port}/").out
    command = said.rsplit("next: stile ", 1)[1].split()
    stile.does(*command)
    assert reaches(town, "n.test")


def test_connections_shows_what_is_open(town):
    world, proxy, stile = town
    assert "nothing is open" in stile.does("connections")
    client = proxy.open_tunnel("o.test", world.port)
    row = until(lambda: [row for row in stile.does("connections").splitlines() if "o.test" in row], 20)
    assert row[0].split()[:2] == ["alpha", f"o.test:{world.port}"]
    assert "nothing is open" in stile.does("connections", "--agent", "beta")
    client.close()


class Watch:
    """A running `stile tail` whose lines are read one by one."""

    def __init__(self, town, *arguments):
        self.town = town
        self.process = town[2].start("tail", *arguments, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def first_line_about(self, host):
        """Asks for the host until the view shows it: it may not have been watching at first."""
        world, proxy, _ = self.town
        os.set_blocking(self.process.stdout.fileno(), False)
        text = ""

        def seen():
            nonlocal text
            proxy.connect(host, world.port)
            try:
                text += os.read(self.process.stdout.fileno(), 65536).decode()
            except BlockingIOError:
                pass
            return [line for line in text.splitlines() if host in line]
        return until(seen, 20, f"a line about {host}")[0]


def test_tail_shows_decisions_as_they_are_made(town):
    with Watch(town) as watch:
        line = watch.first_line_about("n.test")
        assert "alpha" in line and "deny" in line and "host-not-allowed" in line
        watch.process.send_signal(signal.SIGINT)
        assert watch.process.wait(20) == 0
        assert watch.process.stderr.read() == ""


def test_tail_of_nobody_says_who_is_there(town):
    done = town[2]("tail", "--agent", "xyzzy-quux")
    assert done.code == 1 and "there are: alpha, beta" in done.err


def test_tail_as_json_is_the_audit_line_itself(town):
    with Watch(town, "--json", "--denied", "--agent", "alpha") as watch:
        line = json.loads(watch.first_line_about("n.test"))
        assert line["reason"] == "host-not-allowed"
        assert line in town[1].audit.entries(event="deny")


def test_tail_ends_quietly_when_its_reader_goes(town):
    world, proxy, _ = town
    with Watch(town) as watch:
        watch.first_line_about("n.test")
        watch.process.stdout.close()

        def has_ended():
            proxy.connect("n.test", world.port)
            return watch.process.poll() is not None
        until(has_ended, 20)
        assert watch.process.returncode == 0
        assert watch.process.stderr.read() == ""
        watch.process.stdout = None


def test_tail_says_when_the_daemon_goes(town):
    with Watch(town) as watch:
        watch.first_line_about("n.test")
        town[1].stop()
        assert watch.process.wait(20) == 3
        assert "closed the connection" in watch.process.stderr.read()


def test_audit_show_without_a_file_shows_the_log_of_the_daemon(town):
    reaches(town, "n.test")
    done = town[2]("audit", "show", "--denied", "--since", "10m")
    assert done.code == 0 and len(done.out.splitlines()) == 1
    assert "n.test" in done.out and "next: stile allow alpha n.test" in done.err


def test_diff_compares_with_the_running_daemon(town):
    world, proxy, stile = town
    assert reaches(town, "o.test")
    reaches(town, "n.test")
    stile.does("allow", "alpha", "n.test")  # on top of the files: a reload would keep it
    settings = {**proxy.settings, "agent": [{**agent, "allow": []} for agent in world.agents]}
    new = world.write("new.toml", toml(settings))
    done = stile("diff", new, "--audit", proxy.audit.path)
    assert done.code == 1 and "the running daemon" in done.out
    refused = done.out.split("newly refused")[1]
    assert "o.test" in refused and "n.test" in refused


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming somebody else needs root")
def test_who_may_only_look_uses_the_socket_for_that(world):
    group = grp.getgrgid(65534).gr_name
    path = world.short_path("control.sock")
    world.agent("alpha", allow=["o.test"])
    world.start(server={"control": path, "read_only_group": group})
    folder = os.path.dirname(path)
    looked = stile_as_nobody(folder, "agents", "--socket", path)
    assert looked.code == 0 and "alpha" in looked.out, looked
    changed = stile_as_nobody(folder, "mode", "offline", "--socket", path)
    assert changed.code == 1 and "next: sudo stile" in changed.err, changed
