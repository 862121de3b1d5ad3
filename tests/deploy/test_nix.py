"""deploy/nix, evaluated by Debian's nix against a stand-in for nixpkgs, and judged by stiled itself."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from harness.config import toml, value
from harness.stiled import binary

ROOT = Path(__file__).resolve().parents[2]
NIX = ROOT / "deploy" / "nix"
EVAL = Path(__file__).resolve().parent / "nix" / "eval.nix"


def nix(run_folder, *arguments):
    environment = {**os.environ, "HOME": str(run_folder), "NIX_STATE_DIR": str(run_folder / "nix")}
    return subprocess.run(["nix-instantiate", "--readonly-mode", *map(str, arguments)], text=True,
                          capture_output=True, env=environment, check=False)


def evaluate(run_folder, module):
    done = nix(run_folder, "--eval", "--json", "--strict", EVAL, "--arg", "module", module)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def stile(inner):
    return f"{{ services.stile = {{ enable = true; checkConfig = false; {inner} }}; }}"


@pytest.mark.parametrize("file", sorted(NIX.glob("*.nix")), ids=lambda file: file.name)
def test_file_parses(run_folder, file):
    done = nix(run_folder, "--parse", file)
    assert done.returncode == 0, done.stderr


def check(run_folder, settings):
    """What stiled says of the TOML; list files of the machine stand in as empty ones."""
    folder = run_folder / "nix-config"
    folder.mkdir(exist_ok=True)
    (folder / "list.txt").write_text("")
    text = toml(settings).replace("/var/lib/agent-proxy/allowed-domains.txt", str(folder / "list.txt"))
    (folder / "stile.toml").write_text(text)
    return subprocess.run([binary(), "--check", "-c", str(folder / "stile.toml")], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def first_agent(result):
    (entry,) = result["toml"]["agent"]
    return entry


# An option, what is set, and what has to come of it.
OPTIONS = [
    ("nothing", "", lambda r: "agent" not in r["toml"]
     and r["toml"]["server"]["listen"] == ["127.0.0.1:3128", "10.200.0.1:3128"]),
    ("settings.server.listen", 'settings.server.listen = [ "127.0.0.1:8888" ];',
     lambda r: r["toml"]["server"]["listen"] == ["127.0.0.1:8888"]),
    ("settings.server.metrics", 'settings.server.metrics = "";',
     lambda r: r["toml"]["server"]["metrics"] == ""),
    ("settings.egress.mode", 'settings.egress.mode = "observe";',
     lambda r: r["toml"]["egress"]["mode"] == "observe"),
    ("settings.egress.ports", "settings.egress.ports = [ 443 8443 ];",
     lambda r: r["toml"]["egress"]["ports"] == [443, 8443]),
    ("settings.egress.http_ports", "settings.egress.http_ports = [ 80 ];",
     lambda r: r["toml"]["egress"]["http_ports"] == [80]),
    ("settings.egress.deny", 'settings.egress.deny = [ ".evil.example" ];',
     lambda r: r["toml"]["egress"]["deny"] == [".evil.example"]),
    ("settings.audit.path", 'settings.audit.path = "-";', lambda r: r["toml"]["audit"]["path"] == "-"),
    ("settings, freeform", 'settings.limits.connections = 100; settings.dns.timeout_ms = 500;',
     lambda r: r["toml"]["limits"] == {"connections": 100} and r["toml"]["dns"] == {"timeout_ms": 500}),
    ("settings.agents.watch", "settings.agents.watch = false;",
     lambda r: r["toml"]["agents"]["watch"] is False and len(r["toml"]["agents"]["directories"]) == 2),
    ("agents.<id>", 'agents.alpha = { source = [ "10.200.0.2" ]; allow = [ ".anthropic.com" ]; };',
     lambda r: (first_agent(r)["id"], first_agent(r)["source"], first_agent(r)["allow"])
     == ("alpha", ["10.200.0.2"], [".anthropic.com"])),
    ("agents.<id>.deny", 'agents.a = { source = [ "10.0.0.1" ]; deny = [ "x.example" ]; };',
     lambda r: first_agent(r)["deny"] == ["x.example"]),
    ("agents.<id>.ports", 'agents.a = { source = [ "10.0.0.1" ]; ports = [ 8443 ]; };',
     lambda r: first_agent(r)["ports"] == [8443] and "http_ports" not in first_agent(r)),
    ("agents.<id>.http_ports", 'agents.a = { source = [ "10.0.0.1" ]; http_ports = [ 80 ]; };',
     lambda r: first_agent(r)["http_ports"] == [80]),
    ("agents.<id>.mode", 'agents.a = { source = [ "10.0.0.1" ]; mode = "offline"; };',
     lambda r: first_agent(r)["mode"] == "offline"),
    ("agents.<id>.listen", 'agents.a = { listen = [ "127.0.0.1:3129" ]; };',
     lambda r: first_agent(r)["listen"] == ["127.0.0.1:3129"]),
    ("agents.<id>.bytes_up", 'agents.a = { source = [ "10.0.0.1" ]; bytes_up = "50MiB"; };',
     lambda r: first_agent(r)["bytes_up"] == "50MiB" and "bytes_down" not in first_agent(r)),
    ("agents.<id>, freeform", 'agents.a = { source = [ "10.0.0.1" ]; requests_per_second = 5; };',
     lambda r: first_agent(r)["requests_per_second"] == 5),
    ("two agents", 'agents.a.source = [ "10.0.0.1" ]; agents.b.source = [ "10.0.0.2" ];',
     lambda r: [entry["id"] for entry in r["toml"]["agent"]] == ["a", "b"]),
    ("openFirewall off", "", lambda r: "allowedTCPPorts" not in r["networking"]["firewall"]),
    ("openFirewall", 'openFirewall = true; settings.server.listen = [ "127.0.0.1:1" "0.0.0.0:3128" "[::]:3128" ];',
     lambda r: r["networking"]["firewall"]["allowedTCPPorts"] == [3128]),
    ("web.enable", 'web = { enable = true; origins = [ "https://stile.example" ]; };',
     lambda r: r["systemd"]["services"]["stile-web"]["serviceConfig"]["ExecStart"]
     == "/store/stile/bin/stile-web --listen 127.0.0.1:9129 --socket /run/stile/control.sock "
        "--login /run/stile-web/login.sock --group stile-admin --origin https://stile.example"),
    ("fleet.enable", 'fleet.enable = true; settings.fleet.endpoints = [ "https://etcd-1:2379" ];',
     lambda r: r["systemd"]["services"]["stile-fleet"]["serviceConfig"]["ExecStart"]
     == "/store/stile/bin/stile-fleet -c /etc/stile/stile.toml --socket /run/stile/control.sock"),
    ("fence.enable", "fence.enable = false;",
     lambda r: r["systemd"]["services"].keys() == {"stiled"}),
]


@pytest.mark.parametrize("module, holds", [case[1:] for case in OPTIONS], ids=[c[0] for c in OPTIONS])
def test_option(run_folder, module, holds):
    result = evaluate(run_folder, stile(module))
    assert holds(result), json.dumps(result["toml"], indent=1)
    done = check(run_folder, result["toml"])
    assert done.returncode == 0, done.stdout
    assert all(entry["assertion"] for entry in result["assertions"])


WRONG = [
    ('settings.egress.mode = "sometimes";', "services.stile.settings.egress.mode"),
    ("settings.egress.ports = [ 70000 ];", "is not a port"),
    ('agents.a.mode = "loud";', "services.stile.agents.a.mode"),
    ("colour = 1;", "no such option"),
]


@pytest.mark.parametrize("module, message", WRONG)
def test_wrong_value_is_refused(run_folder, module, message):
    done = nix(run_folder, "--eval", "--json", "--strict", EVAL, "--arg", "module", stile(module))
    assert done.returncode != 0 and message in done.stderr, done.stderr


def test_agents_in_settings_are_refused(run_folder):
    result = evaluate(run_folder, stile('settings.agent = [ { id = "a"; } ];'))
    assert [entry["assertion"] for entry in result["assertions"]] == [False, True]


def test_a_fleet_needs_endpoints(run_folder):
    result = evaluate(run_folder, stile("fleet.enable = true;"))
    assert [entry["assertion"] for entry in result["assertions"]] == [True, False]


def test_a_wrong_key_fails_the_check(run_folder):
    result = evaluate(run_folder, stile("settings.egress.prots = [ 443 ];"))
    done = check(run_folder, result["toml"])
    assert done.returncode == 1 and "did you mean ports" in done.stdout, done.stdout


def test_config_is_checked_while_the_system_is_built(run_folder):
    result = evaluate(run_folder, "{ services.stile.enable = true; }")
    assert "/bin/stiled --check -c /store/stile.toml" in result["check"]


def test_a_new_policy_reloads_and_a_new_listener_restarts(run_folder):
    def unit(inner):
        return evaluate(run_folder, stile(inner))["systemd"]["services"]["stiled"]
    before, policy, listener = unit(""), unit('settings.egress.deny = [ "x.example" ];'), \
        unit('settings.server.listen = [ "127.0.0.1:1234" ];')
    assert policy["restartTriggers"] == before["restartTriggers"] != listener["restartTriggers"]
    assert before["reloadTriggers"] == ["/store/stile.toml"]
    assert policy["serviceConfig"] == before["serviceConfig"], "a policy must not change the unit"
    assert "/etc/stile/stile.toml" in before["serviceConfig"]["ExecStart"]


def test_nothing_is_set_unless_enabled(run_folder):
    result = evaluate(run_folder, "{ }")
    assert not result["users"] and not result["systemd"] and not result["networking"]


def test_daemon_has_no_power(run_folder):
    service = evaluate(run_folder, stile(""))["systemd"]["services"]["stiled"]["serviceConfig"]
    assert service["CapabilityBoundingSet"] == "" and service["User"] == "stile"
    for name in ("NoNewPrivileges", "PrivateDevices", "PrivateTmp", "MemoryDenyWriteExecute",
                 "RestrictNamespaces", "ProtectKernelTunables"):
        assert service[name] is True
    assert service["ProtectSystem"] == "strict"


def test_units_are_as_tight_as_systemd_can_measure(run_folder):
    service = evaluate(run_folder, stile(""))["systemd"]["services"]["stiled"]["serviceConfig"]
    lines = ["[Service]"]
    for key, value in service.items():
        text = " ".join(value) if key == "RestrictAddressFamilies" else value
        for one in text if isinstance(text, list) else [text]:
            lines.append(f"{key}={str(one).lower() if isinstance(one, bool) else one}")
    unit = run_folder / "nix-stiled.service"
    unit.write_text("\n".join(lines).replace("/store/stile/bin", "/usr/bin") + "\n")
    done = subprocess.run(["systemd-analyze", "security", "--no-pager", "--offline=true", unit],
                          text=True, capture_output=True, check=False)
    score = re.search(r"exposure level for .*: ([0-9.]+)", done.stdout)
    assert score and float(score[1]) <= 1.5, done.stdout + done.stderr


AGENT_PROXY = '{ services.agent-proxy = { enable = true; allowedDomains = [ ".a.example" "b.example" ]; }; }'


def test_agent_proxy_is_an_alias(run_folder):
    result = evaluate(run_folder, AGENT_PROXY)
    agent = first_agent(result)
    assert agent["source"] == ["10.200.0.0/16"] and agent["http_ports"] == [80]
    assert agent["allow_files"] == ["/var/lib/agent-proxy/allowed-domains.txt"]
    assert result["etc"]["agent-proxy/domains.txt"] == ".a.example\nb.example\n"
    assert check(run_folder, result["toml"]).returncode == 0


def test_agent_proxy_scripts_are_sound(run_folder):
    scripts = [text for text in evaluate(run_folder, AGENT_PROXY)["scripts"] if text]
    assert len(scripts) == 3
    create, delete, update = scripts
    assert "/store/stile/bin/stile-netns create \"$1\"" in create
    assert "/store/stile/bin/stile-netns delete \"$1\"" in delete
    assert "/store/stile/bin/stile reload" in update
    for text in scripts:
        done = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_agent_spawner_has_the_options_of_its_config(run_folder):
    result = evaluate(run_folder, """{ services.agent-spawner = { enable = true; maxWorkers = 3;
      allowedWorkspaces = [ "/srv/agents" ]; spawnCooldownSeconds = 1;
      templates.default = { task = [ "sh" ]; ttl_seconds = 60; }; }; }""")
    assert result["spawner"]["max_workers"] == 3 and result["spawner"]["spawn_cooldown_seconds"] == 1
    file = run_folder / "nix-spawner.toml"
    file.write_text("".join(f"{key} = {value(item)}\n" for key, item in result["spawner"].items()))
    done = subprocess.run([binary("stile-spawner"), "--check", "-c", file], text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    socket = result["systemd"]["sockets"]["stile-spawner"]["socketConfig"]
    assert socket["ListenStream"] == "/run/agent-spawner/spawner.sock" and socket["SocketGroup"] == "agent-users"
    ours = result["systemd"]["services"]["stile-spawner"]["serviceConfig"]
    unit = (ROOT / "systemd/stile-spawner.service").read_text()
    for key, setting in ours.items():
        if isinstance(setting, bool):
            assert f"\n{key}={'yes' if setting else 'no'}\n" in unit, key


def test_agent_spawner_moves_the_proxy(run_folder):
    spawner = "{ services.stile.checkConfig = false; services.agent-spawner = { enable = true; %s }; }"
    result = evaluate(run_folder, spawner % "")
    assert result["toml"]["server"]["listen"] == ["127.0.0.1:3128", "10.200.0.1:3128"] and "netns" not in result["toml"]
    result = evaluate(run_folder, spawner % 'proxyAddress = "127.0.0.3"; proxyPort = 4000;')
    assert result["toml"]["server"]["listen"] == ["127.0.0.3:4000", "10.200.0.1:4000"]
    assert result["toml"]["netns"] == {"port": 4000}
    assert result["systemd"]["sockets"]["stiled-capture"]["socketConfig"]["ListenStream"] == "10.200.0.1:4001"
    assert check(run_folder, result["toml"]).returncode == 0


def workers(inner):
    return "{ services.stile.checkConfig = false; services.mcp-a2a-workers = { enable = true; " + inner + " }; }"


def test_mcp_a2a_workers_brings_what_a_captain_needs(run_folder):
    result = evaluate(run_folder, workers(""))
    user = result["users"]["users"]["mcp-server"]
    assert user["isSystemUser"] and user["extraGroups"] == ["agent-users"], "and no group that can grant"
    assert result["users"]["groups"].keys() >= {"mcp-server", "agent-users"}
    assert result["spawner"]["max_workers"] == 10, "the spawner is on"
    assert "stile-web" in result["systemd"]["services"] and "stile-mcp" not in result["systemd"]["services"]
    assert result["toml"]["server"]["read_only_group"] == "agent-users"
    socket = result["systemd"]["sockets"]["stiled-read"]["socketConfig"]
    documented = re.search(r"<!-- stiled-read.socket -->\n```ini\n(.*?)```", (ROOT / "docs/mcp.md").read_text(), re.S)[1]
    for key in ("ListenStream", "FileDescriptorName", "Service", "SocketMode", "SocketGroup"):
        assert f"{key}={socket[key]}\n" in documented
    assert check(run_folder, result["toml"]).returncode == 0
    assert all(entry["assertion"] for entry in result["assertions"])


def test_mcp_a2a_workers_over_http_needs_a_token(run_folder):
    result = evaluate(run_folder, workers('http.listen = "127.0.0.1:8129"; http.tokenFile = "/etc/mcp-token";'))
    service = result["systemd"]["services"]["stile-mcp"]["serviceConfig"]
    assert service["ExecStart"] == "/store/stile/bin/stile mcp --http 127.0.0.1:8129 --token-file %d/token"
    assert service["LoadCredential"] == "token:/etc/mcp-token" and service["User"] == "mcp-server"
    assert service["CapabilityBoundingSet"] == "" and service["NoNewPrivileges"] is True
    result = evaluate(run_folder, workers('http.listen = "127.0.0.1:8129";'))
    assert [entry["message"] for entry in result["assertions"] if not entry["assertion"]] == [
        "services.mcp-a2a-workers: http.listen needs http.tokenFile"]


@pytest.mark.parametrize("accepted, content", [(True, "x.example\ny.example\n"), (False, "old.example\n")])
def test_update_agent_domains_keeps_the_old_list_if_the_new_is_refused(tmp_path, run_folder, accepted, content):
    update = [text for text in evaluate(run_folder, AGENT_PROXY)["scripts"] if text][2]
    domains = tmp_path / "allowed-domains.txt"
    domains.write_text("old.example\n")
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "stile").write_text(f"#!/bin/sh\nexit {0 if accepted else 1}\n")
    (fake / "stile").chmod(0o755)
    text = update.replace("/store/stile/bin", str(fake)).replace(
        "/var/lib/agent-proxy/allowed-domains.txt", str(domains))
    done = subprocess.run(["bash", "-c", text, "update", "x.example", "y.example"], check=False)
    assert (done.returncode == 0) is accepted
    assert domains.read_text() == content
    assert sorted(os.listdir(tmp_path)) == ["allowed-domains.txt", "bin"], "nothing is left over"


def test_package_version_is_that_of_the_source():
    source = re.search(r"project\(stile VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert f'version = "{source}"' in (NIX / "package.nix").read_text()
