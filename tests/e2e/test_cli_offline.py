"""stile suggest and stile diff: what a log teaches, without a daemon."""

import json
import tomllib

import pytest
from harness.cli import stile
from harness.config import toml


@pytest.fixture
def observed(world):
    """The log and config of a daemon that let an agent do what it wanted, and has ended."""
    for name in ("api.example.com", "cdn.example.com", "git.example.org"):
        world.tls_origin(name)
    world.http_origin("deb.example.net")
    world.agent("alpha", allow=["api.example.com"], mode="observe")
    world.agent("beta", allow=["api.example.com"])
    proxy = world.start()
    for _ in range(2):
        proxy.curl(f"https://api.example.com:{world.port}/")
    proxy.curl(f"https://cdn.example.com:{world.port}/")
    proxy.curl(f"https://git.example.org:{world.port}/")
    proxy.get(f"http://deb.example.net:{world.http_port}/")
    proxy.connect("cdn.example.com", world.port, agent="beta")
    proxy.stop()
    return proxy


def config(world, name="new.toml", **agents):
    """A config in which the agents have these allowlists."""
    settings = world.settings()
    settings["agent"] = [{**agent, "allow": agents.get(agent["id"], agent.get("allow", [])),
                          "mode": "enforce"} for agent in world.agents]
    return world.write(name, toml(settings))


def suggest(proxy, *arguments):
    done = stile("suggest", "--audit", proxy.audit.path, "--config", proxy.config, *arguments)
    assert done.code == 0, done.err
    return done.out


def test_suggest_prints_toml_with_an_allowlist_for_each_agent(world, observed):
    text = suggest(observed)
    agents = {agent["id"]: agent for agent in tomllib.loads(text)["agent"]}
    assert agents["alpha"]["allow"] == ["api.example.com", "cdn.example.com", "deb.example.net",
                                        "git.example.org"]
    assert agents["beta"]["allow"] == ["cdn.example.com"]
    assert "2 let through" in text and "1 REFUSED until now" in text


def test_suggest_says_where_a_suffix_covers_several_hosts(world, observed):
    assert "# .example.com would cover api.example.com, cdn.example.com" in suggest(observed)
    agents = tomllib.loads(suggest(observed, "--suffixes", "--agent", "alpha"))["agent"]
    assert agents[0]["allow"] == [".example.com", "deb.example.net", "git.example.org"]


def test_suggest_can_leave_out_what_was_refused(world, observed):
    agents = tomllib.loads(suggest(observed, "--without-denied", "--agent", "beta"))["agent"]
    assert agents[0]["allow"] == []


def test_suggest_names_ports_that_the_config_does_not_allow(world, observed):
    other = world.write("other.toml", '[[agent]]\nid = "alpha"\nsource = ["127.0.0.1"]\n')
    done = stile("suggest", "--audit", observed.audit.path, "--config", other, "--agent", "alpha")
    allow = tomllib.loads(done.out)["agent"][0]["allow"]
    assert f"git.example.org:{world.port}" in allow
    assert f"http://deb.example.net:{world.http_port}" in allow


def test_suggest_as_json(world, observed):
    answer = json.loads(suggest(observed, "--json", "--agent", "alpha"))
    alpha = answer["agents"][0]
    assert alpha["agent"] == "alpha"
    assert alpha["allow"][0] == {"pattern": "api.example.com", "let_through": 2, "refused": 0}
    assert alpha["suffixes"][0]["pattern"] == ".example.com"


def test_suggestion_pasted_lets_the_same_requests_through(world, observed):
    allow = tomllib.loads(suggest(observed, "--agent", "alpha"))["agent"][0]["allow"]
    new = config(world, alpha=allow)
    assert stile("check", new).code == 0
    done = stile("diff", new, "--audit", observed.audit.path, "--old", observed.config)
    assert done.code == 0, done.out
    assert "newly refused" not in done.out


def test_suggest_without_a_log_says_how_to_name_one(world):
    done = stile("suggest", "--config", world.write("s.toml", toml(world.settings(audit={"path": "-"}))))
    assert done.code == 1 and "--audit" in done.err


def test_suggest_of_a_log_that_is_not_there(world):
    done = stile("suggest", "--audit", "/nonexistent/audit.jsonl")
    assert done.code == 1 and "/nonexistent/audit.jsonl" in done.err


def test_diff_tells_what_would_newly_be_refused_and_allowed(world, observed):
    new = config(world, alpha=["api.example.com"], beta=[".example.com"])
    done = stile("diff", new, "--audit", observed.audit.path, "--old", observed.config)
    assert done.code == 1  # something would be refused
    refused, _, allowed = done.out.partition("newly allowed")
    assert "newly refused" in refused
    assert "git.example.org" in refused and "deny host-not-allowed" in refused
    assert "beta" in allowed and "cdn.example.com" in allowed


def test_diff_without_an_old_config_takes_the_verdicts_of_the_log(world, observed):
    new = config(world, alpha=["api.example.com"])
    done = stile("diff", new, "--audit", observed.audit.path, "--json")
    rows = json.loads(done.out)["newly_refused"]
    targets = {row["target"].rpartition(":")[0]: row["count"] for row in rows}
    assert targets == {"cdn.example.com": 1, "git.example.org": 1, "http://deb.example.net": 1}


def test_diff_of_rules(world):
    world.agent("alpha", allow=["a.test", "b.test"])
    world.agent("beta", allow=["x.test"])
    old = config(world, "old.toml")
    new = config(world, alpha=["b.test", ".c.test"])
    done = stile("diff", new, "--old", old)
    assert done.code == 0
    assert "alpha changed" in done.out and "beta" not in done.out
    assert "+ allow .c.test" in done.out and "- allow a.test" in done.out
    assert "b.test" not in done.out
    assert "no difference" in stile("diff", old, "--old", old).out


def test_diff_of_a_bad_config_tells_all_errors(world):
    bad = world.write("bad.toml", '[egress]\nmode = "x"\n[dns]\nsevers = []\n')
    done = stile("diff", bad)
    assert done.code == 1 and "bad.toml:2" in done.err and "bad.toml:4" in done.err
