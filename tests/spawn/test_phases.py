"""The phases of the seed's plan, with its own shell scripts: spawner, isolation, names.

Three things differ. They sleep nowhere, since a worker runs when its spawn is answered. socat waits for the answer. And
the codes of refused hosts are compared as a part of the text: curl prints 000 already, and the script adds it again.
"""

import subprocess

import pytest
from machine import STILE_TOML
from spawner_config import spawner_toml

# socat ends half a second after its input, which a busy machine may need for a spawn.
PATIENT = 'socat() { command socat -t 60 "$@"; }; export -f socat\n'
PHASE_0 = r"""set -euo pipefail
systemctl start agent-spawner
systemctl is-active agent-spawner
RESULT=$(echo '{"action":"spawn","task_id":"../etc","workspace":"/mnt/agents"}' | socat - UNIX-CONNECT:/run/agent-spawner/spawner.sock)
echo "$RESULT" | grep -q "error" && echo "✓ Invalid task_id rejected"
RESULT=$(echo '{"action":"spawn","task_id":"test1","workspace":"/etc"}' | socat - UNIX-CONNECT:/run/agent-spawner/spawner.sock)
echo "$RESULT" | grep -q "error" && echo "✓ Invalid workspace rejected"
RESULT=$(echo '{"action":"spawn","task_id":"test-agent","workspace":"/mnt/agents"}' | socat - UNIX-CONNECT:/run/agent-spawner/spawner.sock)
echo "$RESULT" | grep -q "spawned" && echo "✓ Valid spawn succeeded"
RESULT=$(echo '{"action":"spawn","task_id":"test-agent-2","workspace":"/mnt/agents"}' | socat - UNIX-CONNECT:/run/agent-spawner/spawner.sock)
echo "$RESULT" | grep -q "cooldown" && echo "✓ Rate limiting works"
RESULT=$(echo '{"action":"terminate","task_id":"test-agent"}' | socat - UNIX-CONNECT:/run/agent-spawner/spawner.sock)
echo "$RESULT" | grep -q "terminated" && echo "✓ Terminate works"
echo "=== Phase 0 PASSED ==="
"""
PHASE_1 = r"""set -euo pipefail
echo '{"action":"spawn","task_id":"net-test","workspace":"/mnt/agents"}' | \
  socat - UNIX-CONNECT:/run/agent-spawner/spawner.sock
ip netns list | grep -q "agent-net-test" && echo "✓ Network namespace created"
if ip netns exec agent-net-test curl --connect-timeout 3 https://example.com 2>/dev/null; then
  echo "✗ FAIL: Agent can reach internet directly!"
  exit 1
else
  echo "✓ Direct internet access blocked"
fi
if ip netns exec agent-net-test curl --connect-timeout 3 -x http://10.200.0.1:3128 https://example.com 2>/dev/null; then
  echo "✓ Proxy access works"
else
  echo "✗ FAIL: Cannot reach proxy!"
  exit 1
fi
if ip netns exec agent-net-test nslookup attacker.com 8.8.8.8 2>/dev/null; then
  echo "✗ FAIL: Direct DNS works!"
  exit 1
else
  echo "✓ Direct DNS blocked"
fi
echo '{"action":"terminate","task_id":"net-test"}' | \
  socat - UNIX-CONNECT:/run/agent-spawner/spawner.sock
echo "=== Phase 1 PASSED ==="
"""
PHASE_2 = r"""set -euo pipefail
echo '{"action":"spawn","task_id":"proxy-test","workspace":"/mnt/agents"}' | \
  socat - UNIX-CONNECT:/run/agent-spawner/spawner.sock
code() { ip netns exec agent-proxy-test curl -s -o /dev/null -w "%{http_code}" -x http://10.200.0.1:3128 "$1" 2>/dev/null || echo "000"; }
RESULT=$(code https://api.anthropic.com/v1/messages)
if [[ "$RESULT" == "401" || "$RESULT" == "200" ]]; then
  echo "✓ Allowed domain accessible (got $RESULT)"
else
  echo "✗ FAIL: Allowed domain blocked (got $RESULT)"
  exit 1
fi
for host in example.com attacker.com; do
  RESULT=$(code https://$host)
  [[ "$RESULT" == *403* || "$RESULT" == *000* ]] && echo "✓ Blocked domain rejected"
done
echo '{"action":"terminate","task_id":"proxy-test"}' | \
  socat - UNIX-CONNECT:/run/agent-spawner/spawner.sock
echo "=== Phase 2 PASSED ==="
"""
# The hosts of the scripts and the name server that they try, on addresses of the machine.
ORIGIN = """
import http.server, socket, ssl, threading
def name_server():
    questions = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    questions.bind(("8.8.8.8", 53))
    while True:
        questions.sendto(*questions.recvfrom(512))
threading.Thread(target=name_server, daemon=True).start()
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header("Content-Length", "3"); self.end_headers(); self.wfile.write(b"ok\\n")
server = http.server.ThreadingHTTPServer(("192.0.2.9", 443), Answer)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain("/srv/cert.pem", "/srv/key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""
NSLOOKUP = """#!/usr/bin/python3
import socket, sys
question = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
question.settimeout(3)
question.sendto(sys.argv[1].encode(), (sys.argv[2], 53))
sys.exit(question.recv(512) != sys.argv[1].encode())
"""


@pytest.fixture(scope="module")
def origin(machine):
    """The hosts of the scripts, answered inside the machine."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", "/CN=origin", "-addext", "subjectAltName=DNS:api.anthropic.com,DNS:example.com",
                    "-keyout", machine.path("/srv/key.pem"), "-out", machine.path("/srv/cert.pem")],
                   check=True, capture_output=True)
    machine.path("/srv/origin.py").write_text(ORIGIN)
    machine.path("/srv/nslookup").write_text(NSLOOKUP)
    machine.shell("cat /srv/cert.pem >>/etc/ssl/certs/ca-certificates.crt; chmod 755 /srv/nslookup;"
                  "ip address add 192.0.2.9/32 dev lo; ip address add 8.8.8.8/32 dev lo;"
                  "echo '192.0.2.9 api.anthropic.com example.com attacker.com' >>/etc/hosts;"
                  "systemd-run --quiet --unit=origin python3 /srv/origin.py; systemctl reload stiled;"
                  "until curl -sf https://example.com/ >/dev/null; do sleep 0.1; done; /srv/nslookup attacker.com 8.8.8.8")


def configure(machine, **options):
    machine.path("/etc/stile/spawner.toml").write_text(spawner_toml(**options))
    machine.run("systemctl", "reload-or-restart", "stile-spawner")


@pytest.fixture
def without_capture(machine):
    """What goes directly to a host is refused then, also if Stile would let it through."""
    def write(text):
        machine.path("/etc/stile/stile.toml").write_text(text)
        machine.shell("systemctl restart stiled && /opt/stile/stile-netns repair")
    write(STILE_TOML + "[netns]\ncapture = false\n")
    yield
    write(STILE_TOML)


def passes(machine, script, phase):
    done = machine.run("bash", "-c", "PATH=/srv:$PATH\n" + PATIENT + script, check=False)
    assert f"=== Phase {phase} PASSED ===" in done.stdout, done.stdout + done.stderr
    assert "✗" not in done.stdout


def test_phase_0_spawner(machine):
    configure(machine, cooldown=5)
    passes(machine, PHASE_0, 0)


def test_phase_1_isolation(machine, origin, without_capture):
    configure(machine, more_hosts=["example.com"])
    passes(machine, PHASE_1, 1)


def test_phase_2_names(machine, origin):
    configure(machine)
    passes(machine, PHASE_2, 2)


def test_a_worker_reaches_what_its_template_names_through_the_proxy(machine, origin, spawn):
    configure(machine)
    spawn("alpha")
    machine.ask({"action": "run", "task_id": "alpha", "message":
                 "curl -sS https://api.anthropic.com/; curl -s https://example.com/ -o /dev/null -w '%{http_connect}\n';"
                 "curl -sS --max-time 5 --noproxy '*' https://192.0.2.9/ || echo no way around"})
    answer = machine.ask({"action": "output", "task_id": "alpha", "wait_seconds": 30})
    text = answer["output"]
    while answer["status"] == "running":
        answer = machine.ask({"action": "output", "task_id": "alpha", "wait_seconds": 30, "cursor": answer["cursor"]})
        text += answer["output"]
    assert text.startswith("ok\n403\n") and text.endswith("no way around\n"), text


def test_a_narrower_card_is_what_the_daemon_enforces(machine, origin, spawn):
    configure(machine, more_hosts=["example.com"])
    assert spawn("alpha", card={"allowed_hosts": ["example.com"]})["status"] == "spawned"
    codes = [machine.run("ip", "netns", "exec", "agent-alpha", "curl", "-s", "-o", "/dev/null", "-w", "%{http_connect}",
                         "-x", "http://10.200.0.1:3128", f"https://{host}/", check=False).stdout
             for host in ("example.com", "api.anthropic.com")]
    assert codes == ["200", "403"]


def test_a_config_with_an_error_changes_nothing(machine, spawn):
    configure(machine)
    machine.path("/etc/stile/spawner.toml").write_text("max_workers = 'x'")
    assert machine.run("systemctl", "reload", "stile-spawner", check=False).returncode != 0
    assert spawn("alpha").get("status") == "spawned"
    configure(machine)
