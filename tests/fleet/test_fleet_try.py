"""publish --try: every host judges its own log and its open connections, and nothing is applied."""

import json

AGENT = """
[[agent]]
id = "alpha"
source = ["{source}"]
allow = {allow}
"""


def policy(world, *allowed):
    return AGENT.format(source=world.addresses["alpha"], allow=json.dumps(allowed))


def test_hosts_say_what_would_change(fleet, world):
    world.tcp_origin("o.test")
    world.agent("alpha")
    host = fleet.host("one", addresses=world.addresses, **{
        key: value for key, value in world.settings().items() if key in ("dns", "egress")})
    host.start().is_connected()
    fleet.publish("base", policy(world, "o.test", "p.test"))
    host.has("policy/base", 1)
    host.daemon.open_tunnel("o.test", world.port)
    host.daemon.audit.wait_one(event="open")
    host.daemon.connect("q.test", world.port)
    host.daemon.audit.wait_one(event="deny", host="q.test")
    fleet.entry("one", {"policy/base": 1})
    file = fleet.policy(policy(world, "q.test"), "candidate.toml")
    done = fleet.stile("publish", "base", file, "--try", "--json", "-c", fleet.config)
    assert done.code == 1, done
    (told,) = json.loads(done.out)["hosts"]
    assert (told["host"], told["allowed"], told["refused"], told["cut"]) == ("one", 1, 1, 1), told
    assert told["newly_refused"][0]["target"] == f"o.test:{world.port}"
    assert told["newly_allowed"][0]["target"] == f"q.test:{world.port}"
    # Nothing was applied.
    assert host.serial("policy/base") == 1
    assert host.daemon.audit.entries(event="close") == []
    shown = fleet.stile("publish", "base", file, "--try", "-c", fleet.config)
    assert "NEWLY REFUSED" in shown.out and "nothing was published" in shown.out, shown


def test_grants_are_judged_too(fleet, world):
    """Those of a host, which the candidate does not change, and those of the candidate itself."""
    world.tcp_origin("o.test")
    world.agent("alpha")
    host = fleet.host("one", addresses=world.addresses, **{
        key: value for key, value in world.settings().items() if key in ("dns", "egress")})
    host.start().is_connected()
    fleet.publish("base", policy(world, "p.test"))
    host.has("policy/base", 1)
    host.ask("allow", agent="alpha", hosts=["o.test"], ttl_seconds=600)
    host.ask("put-agent", card={"agent_id": "put", "source": ["127.0.0.99"], "allowed_hosts": ["o.test"]})
    for name in ("o.test", "q.test", "r.test"):
        host.daemon.connect(name, world.port)
    host.daemon.audit.wait_one(event="deny", host="r.test")
    fleet.entry("one", {"policy/base": 1})

    def tried(name, text):
        done = fleet.stile("publish", name, fleet.policy(text, "candidate.toml"), "--try", "--json", "-c", fleet.config)
        (told,) = json.loads(done.out)["hosts"]
        return done.code, told.get("error"), told["allowed"], told["refused"], told["newly_allowed"]
    assert tried("base", policy(world, "p.test", "s.test")) == (0, None, 0, 0, [])
    grant = '[[grant]]\nagent = "alpha"\nhosts = ["q.test"]\nexpires = 2{}-01-01T00:00:00Z\n'
    code, error, allowed, refused, newly = tried("grants", grant.format("999"))
    assert (code, error, allowed, refused) == (0, None, 1, 0) and newly[0]["target"] == f"q.test:{world.port}"
    assert tried("grants", grant.format("001"))[2:4] == (0, 0)  # its time is over


def test_a_candidate_that_changes_nothing_is_fine(fleet):
    host = fleet.host("one").start().is_connected()
    fleet.entry("one", {})
    done = fleet.stile("publish", "base", fleet.policy('[egress]\ncontact = "me"\n'), "--try", "-c", fleet.config)
    assert done.code == 0 and "\none " in done.out, done
    assert host.fleet()["serials"] == {}
    # Nothing is known of a policy that nobody could judge.
    for words in (["--host", "two"], ["--label", "prod"]):
        done = fleet.stile("publish", "base", fleet.policy(""), "--try", "-c", fleet.config, *words)
        assert done.code == 1 and "no host has joined that this policy is for" in done.err, done


def test_a_candidate_that_a_host_cannot_use(fleet):
    secret = fleet.folder / "token"
    secret.write_text("s3cret-value\n")
    secret.chmod(0o600)
    host = fleet.host("one", secret=[{"name": "other", "file": str(secret), "hosts": ["a.test"],
                                      "header": "X-Key"}]).start().is_connected()
    fleet.entry("one", {})
    candidate = fleet.policy('[[secret]]\nname = "api"\nfile = "/nonexistent/token"\nhosts = ["a.test"]\n'
                             'header = "X-Key"\n')
    done = fleet.stile("publish", "base", candidate, "--try", "--json", "-c", fleet.config)
    assert done.code == 1 and "/nonexistent/token" in json.loads(done.out)["hosts"][0]["error"], done
    assert host.fleet()["serials"] == {}


def test_a_candidate_is_no_policy(fleet):
    """The store cannot put a candidate in the place of the policy."""
    host = fleet.host("one").start().is_connected()
    fleet.stile("publish", "base", fleet.policy('[egress]\nmode = "offline"\n'), "--try", "-c", fleet.config)
    fleet.cluster.put("/stile/policy/base", fleet.cluster.get("/stile/try/base"))
    host.refuses("policy/base", "the signature does not match")
    assert host.status()["mode"] == "enforce"
