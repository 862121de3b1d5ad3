"""create: what it makes, for whom, and what it refuses."""

import json
import os
import subprocess

import pytest

from lab.host import IS_SANITIZED, TOOL


def card_of(host, agent):
    return json.loads(host.read(f"/run/stile/agents.d/{agent}.json"))


def test_makes_namespace_address_route_and_card(host):
    made = host.create("alpha", "--allow", ".example.com", "api.github.com")
    assert made["address"] == "10.200.0.2" and made["namespace"] == "agent-alpha" and made["created"]
    inside = host.run("ip", "netns", "exec", "agent-alpha", "ip", "-o", "addr").stdout
    assert "10.200.0.2/32" in inside and "inet6" not in inside
    routes = host.run("ip", "netns", "exec", "agent-alpha", "ip", "route").stdout
    assert routes.split() == ("default via 10.200.0.1 dev eth0 proto static "
                              "10.200.0.1 dev eth0 proto static scope link").split()
    card = card_of(host, "alpha")
    assert card["agent_id"] == "alpha" and card["source"] == ["10.200.0.2"]
    assert card["allowed_hosts"] == [".example.com", "api.github.com"]
    assert card["instance"] == made["instance"] and len(made["instance"]) == 32


def test_gateway_is_on_loopback_and_the_rest_of_the_subnet_is_unreachable(host):
    host.create("alpha")
    assert "inet 10.200.0.1/32" in host.run("ip", "addr", "show", "lo").stdout
    assert "unreachable 10.200.0.0/16" in host.run("ip", "route").stdout


def test_device_is_shut_on_the_hosts_side(host):
    host.create("alpha")
    device = host.device("alpha")
    for name, value in {"ipv4.{}.forwarding": "0", "ipv4.{}.rp_filter": "1", "ipv4.{}.arp_ignore": "8",
                        "ipv4.{}.proxy_arp": "0", "ipv4.{}.route_localnet": "0",
                        "ipv6.{}.disable_ipv6": "1"}.items():
        family, _, key = name.partition(".{}.")
        assert host.read(f"/proc/sys/net/{family}/conf/{device}/{key}").strip() == value, name
    assert "NOARP" in host.run("ip", "link", "show", device).stdout
    assert "PERMANENT" in host.run("ip", "neigh", "show", "dev", device).stdout
    assert "PERMANENT" in host.run("ip", "netns", "exec", "agent-alpha", "ip", "neigh").stdout


def test_cards_can_be_read_by_the_daemons_group_and_written_by_root_only(host):
    host.run("sh", "-c", "grep -q ^stile: /etc/group || echo stile:x:64321: >> /etc/group")
    host.create("alpha")
    assert host.run("stat", "-c", "%U:%g %a", "/run/stile/agents.d/alpha.json").stdout == "root:64321 640\n"
    assert host.run("stat", "-c", "%U:%g %a", "/run/stile/agents.d").stdout == "root:64321 750\n"
    assert host.run("stat", "-c", "%U:%G %a", "/run/stile").stdout == "root:root 755\n"
    assert host.run("stat", "-c", "%U:%G %a", "/run/stile/netns").stdout == "root:root 700\n"


def test_refuses_a_run_directory_that_others_can_write(host):
    host.run("install", "-d", "-m", "777", "/run/stile")
    done = host.tool("create", "alpha", check=False)
    assert done.returncode == 1 and "can write it" in done.stderr


def test_does_not_follow_a_link_in_the_daemons_directory(host):
    host.run("sh", "-c", "mkdir -p /var/lib/stile; echo precious > /run/precious; "
                         "ln -s /run/precious /var/lib/stile/netns.last")
    host.create("alpha")
    assert host.read("/run/precious") == "precious\n"
    assert host.read("/var/lib/stile/netns.last") == "10.200.0.2\n"


def test_is_repeatable_and_keeps_address_and_instance(host):
    first = host.create("alpha", "--allow", ".example.com")
    ruleset = host.ruleset()
    second = host.create("alpha")
    assert second == {**first, "created": False}
    assert card_of(host, "alpha")["allowed_hosts"] == [".example.com"]
    without_counts = [line for line in ruleset.splitlines() if "packets" not in line]
    assert without_counts == [line for line in host.ruleset().splitlines() if "packets" not in line]


def test_repeating_with_another_policy_replaces_the_card_only(host):
    first = host.create("alpha", "--allow", ".example.com", "--ttl", "1h")
    second = host.create("alpha", "--allow", ".example.org")
    assert second["instance"] == first["instance"] and second["address"] == first["address"]
    card = card_of(host, "alpha")
    assert card["allowed_hosts"] == [".example.org"]
    assert card["ttl_seconds"] == 3600 and second["expires"] == first["expires"]


def test_another_ttl_leaves_the_policy_alone(host):
    first = host.create("alpha", "--allow", ".example.com", "--ttl", "1h")
    second = host.create("alpha", "--ttl", "2h")
    assert card_of(host, "alpha")["allowed_hosts"] == [".example.com"]
    assert second["expires"] > first["expires"]


def test_a_card_replaces_all_of_the_old_one(host):
    host.create("alpha", "--allow", ".example.com", "--ttl", "1h")
    host.write("/etc/alpha.json", json.dumps({"agent_id": "alpha", "allowed_hosts": ["b.test"]}))
    assert "expires" not in host.create("alpha", "--card", "/etc/alpha.json")
    card = card_of(host, "alpha")
    assert card["allowed_hosts"] == ["b.test"] and "ttl_seconds" not in card


def test_repeating_makes_whole_what_is_missing(host):
    first = host.create("alpha", "--allow", ".example.com")
    host.run("ip", "link", "del", host.device("alpha"))
    host.run("rm", "/run/stile/agents.d/alpha.json")
    host.nft("delete table inet stile")
    again = host.create("alpha")
    assert again["instance"] == first["instance"]
    assert card_of(host, "alpha")["allowed_hosts"] == [".example.com"]
    assert host.fence_is_whole("alpha")


def test_addresses_rotate_and_the_pointer_is_kept_on_disk(host):
    assert host.create("a")["address"] == "10.200.0.2"
    assert host.create("b")["address"] == "10.200.0.3"
    host.tool("delete", "a")
    assert host.create("c")["address"] == "10.200.0.4"
    host.run("rm", "-rf", "/run/stile")  # a reboot
    assert host.create("d")["address"] == "10.200.0.5"


def test_small_subnet_is_used_to_its_last_address_and_no_further(host):
    host.config = "/etc/stile/stile.toml"
    host.write(host.config, '[netns]\nsubnet = "10.9.0.0/29"\ngateway = "10.9.0.6"\nport = 4000\n')
    given = [host.create(f"a{i}")["address"] for i in range(5)]
    assert sorted(given) == [f"10.9.0.{i}" for i in range(1, 6)]
    done = host.tool("create", "one-too-many", check=False)
    assert done.returncode == 1 and "are taken" in done.stderr
    host.tool("delete", "a2")
    assert host.create("again")["address"] == "10.9.0.3"
    assert host.fence_is_whole()


def test_another_create_after_delete_is_another_instance(host):
    first = host.create("alpha")
    host.tool("delete", "alpha")
    assert host.create("alpha")["instance"] != first["instance"]


def test_card_of_the_operator_gives_policy_and_address(host):
    host.write("/etc/cards/alpha.json", json.dumps(
        {"agent_id": "alpha", "workspace": "/mnt/a", "source": ["10.200.7.7"], "allowed_hosts": ["a.example"],
         "ttl_seconds": 60, "bytes_up": "1MiB"}))
    assert host.create("alpha", "--card", "/etc/cards/alpha.json")["address"] == "10.200.7.7"
    card = card_of(host, "alpha")
    assert card["allowed_hosts"] == ["a.example"] and card["bytes_up"] == "1MiB" and card["workspace"] == "/mnt/a"
    assert "created" in card and host.agents()["alpha"]["expires"]
    done = host.tool("create", "beta", "--card", "/etc/cards/alpha.json", check=False)
    assert done.returncode == 1 and "not the card of agent beta" in done.stderr


def test_agent_that_the_daemon_knows_gets_its_own_address_and_no_second_card(host):
    host.write("/etc/stile/stile.toml", '[[agent]]\nid = "written"\nsource = ["10.200.0.2"]\nallow = ["a.example"]\n')
    host.write("/etc/stile/agents.d/carded.json", '{"agent_id": "carded", "source": ["10.200.0.3"]}')
    assert host.create("written")["address"] == "10.200.0.2"
    assert host.create("carded", "--card", "/etc/stile/agents.d/carded.json")["address"] == "10.200.0.3"
    assert host.run("ls", "/run/stile/agents.d").stdout == ""
    done = host.tool("create", "carded", "--allow", "b.example", check=False)
    assert done.returncode == 1 and "/etc/stile/agents.d/carded.json" in done.stderr
    assert host.fence_is_whole()
    host.tool("delete", "carded")
    assert host.exists("/etc/stile/agents.d/carded.json")


def test_addresses_of_known_agents_are_not_handed_out(host):
    host.write("/etc/stile/stile.toml", '[[agent]]\nid = "w"\nsource = ["10.200.0.2", "10.200.0.4/31"]\n')
    assert [host.create(x)["address"] for x in ("a", "b", "c")] == ["10.200.0.3", "10.200.0.6", "10.200.0.7"]


@pytest.mark.parametrize("arguments, words", [
    (["Alpha"], "'Alpha' is not an id"),
    (["../x"], "not an id"),
    (["a" * 65], "not an id"),
    (["a", "--card", "/nonexistent"], "no such file"),
])
def test_refuses_and_leaves_nothing(host, arguments, words):
    done = host.tool("create", *arguments, check=False)
    assert done.returncode == 1 and words in done.stderr
    assert host.leftovers() == []


def test_an_agent_that_does_not_exist_is_named_and_the_others_can_be_found(host):
    for words in (["exec", "none", "--", "true"], ["check", "none"]):
        done = host.tool(*words, check=False)
        assert done.returncode != 0 and "there is no agent 'none'; stile-netns list shows all" in done.stderr


@pytest.mark.parametrize("arguments, words", [
    (["--allow", "a b"], "a b"), (["--ttl", "5"], "--ttl"), (["--ttl", "0s"], "--ttl")])
def test_wrong_use_touches_nothing(host, arguments, words):
    done = host.tool("create", "a", *arguments, check=False)
    assert done.returncode == 2 and words in done.stderr
    assert not host.exists("/run/stile/netns")


def test_a_changed_card_is_called_changed(host):
    assert "a created" in host.tool("create", "a", "--allow", "a.test").stdout
    assert "a exists already" in host.tool("create", "a").stdout
    assert "a changed" in host.tool("create", "a", "--allow", "b.test").stdout


def test_refuses_a_namespace_that_somebody_else_made(host):
    host.run("ip", "netns", "add", "agent-alpha")
    done = host.tool("create", "alpha", check=False)
    assert done.returncode == 1 and "did not make it" in done.stderr
    assert host.exists("/run/netns/agent-alpha")


def test_failure_near_the_end_takes_everything_back(host):
    host.create("beta")
    before = host.leftovers()
    host.run("mkdir", "/run/stile/agents.d/.alpha.json.new")  # the card cannot be written
    done = host.tool("create", "alpha", check=False)
    assert done.returncode == 1 and "cannot write the card" in done.stderr
    assert host.leftovers() == before
    host.run("rmdir", "/run/stile/agents.d/.alpha.json.new")
    assert host.create("alpha")["created"]


AT_ONCE = 16 if IS_SANITIZED else 64


def test_many_creates_at_once_make_as_many_agents(host):
    started = [host.start_tool("create", f"agent-{i}", "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
               for i in range(AT_ONCE)]
    outputs = [process.communicate(timeout=60) for process in started]
    assert [process.returncode for process in started] == [0] * AT_ONCE, outputs
    assert {err for _, err in outputs} == {b""}
    made = [json.loads(out) for out, _ in outputs]
    assert len({one["address"] for one in made}) == AT_ONCE and len({one["instance"] for one in made}) == AT_ONCE
    agents = host.agents()
    assert len(agents) == AT_ONCE and {one["state"] for one in agents.values()} == {"ok"}
    assert host.tool("repair").stdout == "nothing to repair\n"


def test_the_same_create_many_times_at_once_makes_one_agent(host):
    started = [host.start_tool("create", "alpha", "--json", stdout=subprocess.PIPE) for _ in range(16)]
    made = [json.loads(process.communicate(timeout=60)[0]) for process in started]
    assert len({one["instance"] for one in made}) == 1 and sum(one["created"] for one in made) == 1


def test_creates_and_deletes_at_once_leave_only_whole_agents(host):
    for _ in range(3):
        started = [host.start_tool(what, f"agent-{i % 4}", stdout=subprocess.DEVNULL)
                   for i in range(8) for what in ("create", "delete")]
        assert [process.wait(timeout=60) for process in started] == [0] * 16
        assert host.fence_is_whole()
        assert host.tool("repair").stdout == "nothing to repair\n"


def test_warns_when_the_daemon_does_not_read_its_cards(host):
    host.write("/etc/stile/stile.toml", '[agents]\ndirectories = ["/etc/stile/agents.d"]\n')
    assert "/run/stile/agents.d is not among agents.directories" in host.tool("create", "alpha").stderr


OTHERS = """
table inet filter {
  chain input { type filter hook input priority filter; policy %s; iifname "lo" accept; tcp dport 22 accept; }
  chain forward { type filter hook forward priority filter; policy drop; }
}
table ip nat {
  chain PREROUTING { type nat hook prerouting priority dstnat; tcp dport 8888 dnat to 127.0.0.1:22; }
  chain POSTROUTING { type nat hook postrouting priority srcnat; oifname "up0" masquerade; }
}
table arp x { }
"""


def test_tables_of_others_are_left_alone(host):
    host.nft(OTHERS % "accept")
    before = host.ruleset()
    host.create("alpha")
    host.tool("repair")
    host.tool("delete", "alpha")
    after = host.ruleset()
    assert after.replace(after[after.index("table inet stile"):].split("\n}\n")[0] + "\n}\n", "") == before


def test_warns_when_a_rule_of_the_host_keeps_agents_from_the_proxy(host):
    host.nft(OTHERS % "drop")
    done = host.tool("create", "alpha")
    assert "inet filter input" in done.stderr and 'iifname "stile-*"' in done.stderr
    host.nft('insert rule inet filter input iifname "stile-*" ip daddr 10.200.0.1 tcp dport 3128 accept')
    assert host.tool("create", "beta").stderr == ""


CONTROL = """
import json, os, socket, sys
sock = socket.socket(socket.AF_UNIX)
sock.bind("/run/stile/control.sock")
sock.listen()
print("ready", flush=True)
for answer in sys.argv[1:]:
    conn, _ = sock.accept()
    request = conn.makefile().readline()
    cards = sorted(os.listdir("/run/stile/agents.d"))
    print(json.dumps([json.loads(request), cards]), flush=True)
    conn.sendall(answer.encode() + b"\\n")
"""


def test_tells_a_running_daemon_after_the_card_is_there_and_after_it_is_gone(host):
    host.run("install", "-d", "/run/stile")
    refusal = '{"ok":false,"error":{"code":"config-error","message":"no"}}'
    daemon = host.popen("/usr/bin/python3", "-c", CONTROL, '{"ok":true}', '{"ok":true}', refusal, stdout=subprocess.PIPE, text=True)
    assert daemon.stdout.readline() == "ready\n"
    assert host.tool("create", "alpha").stderr == ""
    assert json.loads(daemon.stdout.readline()) == [{"action": "ping"}, ["alpha.json"]]
    assert json.loads(daemon.stdout.readline()) == [{"action": "reload"}, ["alpha.json"]]
    assert "did not reload" in host.tool("delete", "alpha").stderr
    assert json.loads(daemon.stdout.readline()) == [{"action": "reload"}, []]


@pytest.mark.long
@pytest.mark.skipif(IS_SANITIZED, reason="sanitizers are slow")
def test_is_usable_at_once_and_takes_less_than_100_ms(host):
    """Of processor time: what it waits for on a busy machine is not its own."""
    host.create("first")
    times = []
    for i in range(10):
        before = os.times()
        done = host.tool("create", f"agent-{i}")
        after = os.times()
        times.append(after.children_user + after.children_system - before.children_user - before.children_system)
        assert done.stderr == ""
    assert min(times) < 0.1, times


def test_says_who_may_use_it():
    done = subprocess.run(["setpriv", "--reuid", "65534", TOOL, "list"], capture_output=True, text=True)
    assert done.returncode == 1 and "root" in done.stderr
