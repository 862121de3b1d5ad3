"""A real agent as the task of a worker, with its shipped profile: its key is outside, a placeholder inside."""

import json
import shutil
import subprocess

import pytest
from harness import stand_in_api
from harness.npm_programs import CLAUDE, installed
from machine import SOURCE, STILE_TOML
from spawner_config import spawner_toml

KEY = "sk-ant-real-value-0123456789"
SECRET = """
[[secret]]
name = "anthropic"
file = "/etc/stile/anthropic.key"
hosts = ["api.anthropic.com"]
header = "x-api-key"
agent_env = "ANTHROPIC_API_KEY"
"""
TEMPLATE = """
[templates.claude]
task = ["/opt/claude/claude", "-p", "--dangerously-skip-permissions"]
read = ["/opt/claude"]
profile = "claude"
secrets = ["anthropic"]
private_exceptions = ["192.0.2.9/32"]
"""
ORDERS = [["Bash", {"command": "env > env.txt; cat /etc/stile/anthropic.key > found.txt 2>&1; echo ran", "description": "looks around"}],
          "that was all"]


@pytest.fixture
def worker(machine, spawn):
    shutil.copytree(SOURCE / "profiles", machine.path("/opt/share/stile/profiles"))
    machine.path("/opt/claude").mkdir()
    shutil.copy(installed(CLAUDE) / ".bin/claude", machine.path("/opt/claude/claude"))
    machine.path("/etc/stile/anthropic.key").write_text(KEY)
    machine.path("/etc/stile/stile.toml").write_text(STILE_TOML + SECRET)
    machine.path("/etc/stile/spawner.toml").write_text(spawner_toml() + TEMPLATE)
    shutil.copy(stand_in_api.__file__, machine.path("/srv/api.py"))
    machine.path("/srv/orders.json").write_text(json.dumps(ORDERS))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", "/CN=api", "-addext", "subjectAltName=DNS:api.anthropic.com",
                    "-keyout", machine.path("/srv/key.pem"), "-out", machine.path("/srv/cert.pem")],
                   check=True, capture_output=True)
    machine.shell("chgrp stile /etc/stile/anthropic.key; chmod 640 /etc/stile/anthropic.key;"
                  "cat /srv/cert.pem >>/etc/ssl/certs/ca-certificates.crt; ip address add 192.0.2.9/32 dev lo;"
                  "echo '192.0.2.9 api.anthropic.com' >>/etc/hosts; systemctl restart stiled;"
                  "systemctl reload-or-restart stile-spawner;"
                  "systemd-run --quiet --unit=api python3 /srv/api.py 192.0.2.9 443 /srv/orders.json /srv/api.log"
                  " /srv/cert.pem /srv/key.pem;"
                  "until curl -sf https://api.anthropic.com/ >/dev/null; do sleep 0.1; done")
    assert spawn("alpha", template="claude").get("status") == "spawned"


@pytest.mark.long
def test_claude_code_works_in_a_worker_without_its_key(machine, worker):
    said = machine.run("/opt/stile/stile", "send", "alpha", "do it")
    assert "that was all" in said.stdout and "changed env.txt, found.txt" in said.stderr, said
    requests = [json.loads(line) for line in machine.path("/srv/api.log").read_text().splitlines()]
    assert {request["headers"].get("x-api-key") for request in requests} == {KEY}
    assert KEY not in json.dumps([{**request, "headers": {}} for request in requests])
    inside = machine.path("/mnt/agents/alpha/env.txt").read_text()
    assert "ANTHROPIC_API_KEY=sk-ant-" in inside and KEY not in inside
    assert KEY not in machine.path("/mnt/agents/alpha/found.txt").read_text()
