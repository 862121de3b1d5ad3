"""stile run: what is let out, and what is not."""

import json

from harness.checks import assert_untouched
from harness.cli import stile


def test_an_allowed_host_is_reached(fence):
    origin = fence.world.tls_origin("o.test")
    done = fence.curl("--allow", "o.test", url=f"https://o.test:{fence.world.port}/")
    assert (done.code, done.out) == (0, "200 200"), done.err
    assert origin.names() == ["o.test"]


def test_without_a_flag_nothing_is_reached(fence):
    origin = fence.world.tls_origin("o.test")
    done = fence.curl(url=f"https://o.test:{fence.world.port}/")
    assert done.out == "403 000" and done.code == 56
    assert_untouched(origin)


def test_deny_wins_over_allow(fence):
    origin = fence.world.tls_origin("a.example.test")
    done = fence.curl("--allow", ".example.test", "--deny", "a.example.test",
                      url=f"https://a.example.test:{fence.world.port}/")
    assert done.out == "403 000"
    assert_untouched(origin)


def test_plain_http_goes_through_the_same_policy(fence):
    fence.world.http_origin("h.test")
    port = fence.world.http_port
    assert fence.curl("--allow", "h.test", url=f"http://h.test:{port}/").out == "000 200"
    assert fence.curl(url=f"http://h.test:{port}/").out == "000 403"


def test_observe_lets_through_and_tells(fence):
    origin = fence.world.tls_origin("o.test")
    done = fence.curl("--observe", url=f"https://o.test:{fence.world.port}/")
    assert done.out == "200 200", done.err
    assert origin.names() == ["o.test"]
    assert "would refuse o.test" in done.err and f"--allow o.test:{fence.world.port}" in done.err


def test_a_card_says_it_too_and_flags_add_to_it(fence):
    fence.world.tls_origin("c.test")
    fence.world.tls_origin("o.test")
    card = fence.write("card.json", json.dumps({"agent_id": "alpha", "allowed_hosts": ["c.test"]}))
    for name, expected in [("c.test", "200 200"), ("o.test", "200 200"), ("x.test", "403 000")]:
        done = fence.curl("--card", card, "--allow", "o.test",
                          url=f"https://{name}:{fence.world.port}/")
        assert done.out == expected, (name, done.err)


def test_a_card_can_open_a_private_address_without_a_config(fence):
    origin = fence.world.tls_origin("o.test")
    card = fence.write("card.json", json.dumps({
        "agent_id": "alpha", "allowed_hosts": [], "ports": [fence.world.port],
        "allow_ip": [origin.address], "private_exceptions": [origin.address + "/32"]}))
    done = fence.curl("--card", card, config="", more=["-k"],
                      url=f"https://{origin.address}:{fence.world.port}/")
    assert done.out == "200 200", done.err


def test_a_budget_of_the_card_is_kept(fence):
    fence.world.http_origin("h.test")
    card = fence.write("card.json", json.dumps({
        "agent_id": "alpha", "allowed_hosts": ["h.test"], "bytes_down": 1}))
    done = fence.curl("--card", card, url=f"http://h.test:{fence.world.http_port}/")
    assert done.out != "000 200" or done.code != 0


def test_the_host_itself_is_not_reached(fence):
    origin = fence.world.tls_origin("o.test", opened=False)
    done = fence.curl("--allow", "o.test", url=f"https://o.test:{fence.world.port}/")
    assert done.out == "403 000"
    assert_untouched(origin)


def test_the_log_has_every_request_and_is_whole(fence):
    fence.world.tls_origin("o.test")
    log = fence.folder / "audit.jsonl"
    url = f"https://o.test:{fence.world.port}/"
    fence.curl("--allow", "o.test", "--audit", log, url=url)
    fence.curl("--audit", log, url=url)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["event"] for line in lines if line["event"] != "policy"] == \
        ["start", "open", "close", "stop", "start", "deny", "stop"]
    assert {line["agent"] for line in lines if "agent" in line} == {"run"}
    verified = stile("audit", "verify", log)
    assert verified.code == 0, verified.err


def test_the_command_cannot_touch_the_log(fence):
    log = fence.write("audit.jsonl", "")
    done = fence.shell("--audit", log, script=(
        "echo forged >> audit.jsonl; rm -f audit.jsonl; mv audit.jsonl other; "
        "cat audit.jsonl | wc -c"))
    assert done.out.strip() == "0"
    assert '"event":"start"' in open(log).readline()
    assert "forged" not in open(log).read()


def test_root_does_not_log_through_a_link(root_fence):
    """An earlier command may have left it there, and root would write to any file of the host."""
    log, elsewhere = root_fence.folder / "audit.jsonl", root_fence.folder / "elsewhere"
    log.symlink_to(elsewhere)
    done = root_fence.shell("--audit", log, script="echo ran")
    assert done.code == 125 and "a part of it is a link" in done.err and done.out == "", done
    assert not elsewhere.exists()


def test_mistakes_are_named_and_nothing_runs(fence):
    for flags, word in [(["--card", "no-such.json"], "no-such.json"),
                        (["--audit", "/no/such/place"], "/no/such/place")]:
        done = fence.shell(*flags, script="echo ran")
        assert done.code == 125 and word in done.err and "ran" not in done.out, (flags, done)


def test_flags_that_make_no_sense_are_wrong_use(fence):
    for flags, word in [(["--allow", "exa mple.com"], "--allow"),
                        (["--deny", "-x.test"], "--deny"),
                        (["--expose", "/no/such/socket"], "/no/such/socket does not exist"),
                        (["--read", "/no/such/file"], "/no/such/file does not exist"),
                        (["--can", "npm:instal"], "did you mean npm:install?"),
                        (["--can", "github:read"], "write 'github:read OWNER/NAME'"),
                        (["--profile", "nothing"], "there is no profile 'nothing'"),
                        (["--allow", "http://localhost:11434"], "can never work"),
                        (["--allow", "db.localhost"], "can never work")]:
        done = fence.shell(*flags, script="echo ran")
        assert done.code == 2 and word in done.err and "ran" not in done.out, (flags, done)


def test_a_second_pattern_is_not_taken_for_the_command(fence):
    done = fence.run("--allow", "a.test", "b.test", command=["echo", "ran"])
    assert done.code == 2 and "ran" not in done.out, done
    assert "b.test comes before --" in done.err and "--allow A --allow B" in done.err


def test_dashes_of_the_command_are_its_own(fence):
    assert fence.run(command=["sh", "-c", "echo $1", "--", "x"]).out == "x\n"


def test_the_documents_list_of_isolation_checks(fence):
    """Direct Internet blocked, proxy reachable, DNS blocked, one domain allowed, others refused."""
    world = fence.world
    origin = world.tls_origin("a.example.test")
    stranger = world.tls_origin("x.test")
    url = f"https://a.example.test:{world.port}/"
    done = fence.shell("--allow", ".example.test", "--no-capture", script=f"""
        curl -q -s --noproxy '*' --connect-timeout 3 -k https://{origin.address}:{world.port}/ && echo DIRECT
        curl -q -s --noproxy '*' --connect-timeout 3 -k {url} && echo DIRECT-BY-NAME
        curl -q -s -o /dev/null --cacert ca.pem -w 'proxy %{{http_code}}\\n' {url}
        curl -q -s -o /dev/null --cacert ca.pem -w 'blocked %{{http_connect}}\\n' https://x.test:{world.port}/
        curl -q -s -o /dev/null --cacert ca.pem -w 'blocked %{{http_connect}}\\n' https://attacker.test:{world.port}/
        true""")
    assert done.out.split("\n")[:3] == ["proxy 200", "blocked 403", "blocked 403"], done
    assert "DIRECT" not in done.out
    assert len(origin.connections) == 1
    assert_untouched(stranger)
    assert set(world.dns.names_asked()) == {"a.example.test"}


def test_the_log_begins_with_the_policy_in_force(fence):
    """Flags, profile and card are gone later; values of variables are never written."""
    audit = fence.write("audit.jsonl", "")
    card = fence.write("card.json", json.dumps({
        "agent_id": "logged", "allowed_hosts": ["a.test"], "environment": {"TOKEN": "very-secret"}}))
    done = fence.run("--card", card, "--allow", "b.test", "--deny", "c.test", "--audit", audit, command=["true"])
    assert done.code == 0, done.err
    lines = [json.loads(line) for line in open(audit)]
    assert [line["event"] for line in lines[:2]] == ["start", "policy"], lines
    policy = [line["detail"] for line in lines if line["event"] == "policy"]
    values = dict(text.partition("  #")[0].rstrip().split(" = ", 1) for text in policy)
    assert values["id"] == '"logged"' and values["allow"] == '["a.test", "b.test"]' and '"c.test"' in values["deny"]
    assert "ech" not in values, "only what is not a default"
    assert "very-secret" not in open(audit).read()
