"""exec of an agent with opened hosts: its command trusts the CA, and holds placeholders only."""

import json

import pytest

from lab.street import CA_FILE, CONFIG, Street

VALUE = "sk-real-value-0123456789"
OPENING = f"""
[intercept]
trust = ["{CA_FILE}"]
[[secret]]
name = "api"
file = "/etc/stile/key"
hosts = ["a.test"]
header = "X-Api-Key"
agent_env = "API_KEY"
"""


@pytest.fixture(scope="module")
def street():
    place = Street()
    try:
        place.host.write("/etc/stile/key", VALUE)
        place.host.run("chmod", "600", "/etc/stile/key")
        place.host.write("/etc/stile/stile.toml", CONFIG + OPENING)
        place.host.write("/etc/card.json", json.dumps(
            {"agent_id": "alpha", "allowed_hosts": ["a.test", "c.test"], "secrets": ["api"]}))
        place.create("alpha", "--card", "/etc/card.json")
        place.start_daemon()
        place.create("beta", "--allow", "c.test")
        yield place
    finally:
        place.close()


def inside(street, agent, script):
    return street.host.tool("exec", agent, "--", "sh", "-c", script, check=False)


def test_a_program_needs_no_settings_of_its_own(street):
    done = inside(street, "alpha", """
        curl -q -sS -o /dev/null -w '%{http_code}\\n' -H "X-Api-Key: $API_KEY" https://a.test/inside
        echo $API_KEY; echo $NODE_EXTRA_CA_CERTS; cat $NODE_EXTRA_CA_CERTS
        echo x > /run/stile-ca/ca.pem; umount /run/stile-ca; umount /etc/ssl/certs/ca-certificates.crt; echo end""")
    lines = done.stdout.splitlines()
    assert lines[0] == "200" and lines[1].startswith("stile-placeholder-"), done
    assert lines[2] == "/run/stile-ca/ca.pem" and street.host.read("/var/lib/stile/ca/ca.pem") in done.stdout
    assert lines[-1] == "end" and VALUE not in done.stdout + done.stderr
    assert {"sni": "a.test", "path": "/inside"}.items() <= street.events("request")[-1].items()


def test_sealed_hosts_and_other_agents_stay_as_they_were(street):
    assert street.curl("alpha", "https://c.test/sealed") == (0, "200 200")
    done = inside(street, "beta", "env; ls /run")
    assert "stile-ca" not in done.stdout and "API_KEY" not in done.stdout, done


def test_the_key_is_nowhere_inside(street):
    done = inside(street, "alpha", f"""
        env; cat /etc/stile/key /proc/*/environ 2>/dev/null
        grep -rl {VALUE} /etc /run /tmp /root /var 2>/dev/null; true""")
    assert VALUE not in done.stdout, done
