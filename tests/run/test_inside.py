"""stile run: hosts that are opened. The command trusts the CA and never holds a key."""

import json
import os
import shutil
from pathlib import Path

import pytest
from fence import USER
from harness.checks import assert_untouched
from harness.cli import environment
from harness.http_origin import response

VALUE = "sk-real-value-0123456789"
PROFILES = str(Path(__file__).resolve().parents[2] / "profiles")


@pytest.fixture
def keyed(fence):
    """A key in a file of the project, for one origin."""
    fence.origin = fence.world.tls_origin("a.test")
    fence.key = fence.write("key", VALUE + "\n", 0o600)
    fence.flags = ["--allow", "a.test", "--secret", f"api={fence.key}:a.test:X-Api-Key"]
    fence.url = f"https://a.test:{fence.world.port}/"
    return fence


def test_the_key_is_added_outside_and_invisible_inside(keyed):
    done = keyed.shell(*keyed.flags, script=f"""
        curl -q -sS --max-time 20 -o /dev/null -w '%{{http_code}}\\n' -H "X-Api-Key: $API_API_KEY" {keyed.url}
        env; cat {keyed.key}; cat /proc/1/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; true""")
    assert done.out.startswith("200\n"), done
    assert keyed.origin.requests[0].values("x-api-key") == [VALUE]
    assert VALUE not in done.out + done.err
    assert "API_API_KEY=stile-placeholder-" in done.out


@pytest.mark.parametrize("flag", ["--read", "--write", "--expose"])
def test_a_flag_that_shows_the_key_file_does_not_show_the_key(keyed, flag):
    for path in (keyed.key, str(keyed.folder)):
        done = keyed.shell(*keyed.flags, flag, path, script=f"cat {keyed.key}; echo read")
        assert done.out == "read\n", done


def test_the_memory_of_the_first_process_is_closed(keyed):
    done = keyed.python(*keyed.flags, script="""
import ctypes, os
for name in ("mem", "environ", "maps"):
    try:
        open(f"/proc/1/{name}", "rb").read(1)
        print(name, "OPENED")
    except OSError:
        pass
libc = ctypes.CDLL(None, use_errno=True)
print(libc.ptrace(16, 1, 0, 0))""")
    assert done.out == "-1\n", done


def test_a_refusal_inside_names_the_request(fence):
    """The host alone would not say what was wrong."""
    fence.world.tls_origin("a.test")
    card = fence.write("card.json", json.dumps({"agent_id": "worker", "ports": [fence.world.port], "request": [
        {"host": f"a.test:{fence.world.port}", "paths": ["/ok/**"]}]}))
    done = fence.shell("--card", card, script=f"curl -q -sS -o /dev/null -X DELETE https://a.test:{fence.world.port}/ok/x")
    assert f"refused DELETE a.test:{fence.world.port}/ok/x (method-not-allowed)" in done.err, done


def test_without_an_opened_host_nothing_is_added(fence):
    done = fence.shell(script="env; ls /run/stile-ca; true")
    assert "NODE_EXTRA_CA_CERTS" not in done.out and "JAVA_TOOL_OPTIONS" not in done.out


def test_every_variable_of_the_trust_list_is_set(keyed):
    corporate = keyed.write("corporate.pem", Path(keyed.ca_file).read_text())
    done = keyed.shell(*keyed.flags, env=environment(NODE_EXTRA_CA_CERTS=corporate, JAVA_TOOL_OPTIONS="-Dmine=1"),
                       script="""
        for name in NODE_EXTRA_CA_CERTS DENO_CERT SSL_CERT_FILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE GIT_SSL_CAINFO \
                    PIP_CERT AWS_CA_BUNDLE CARGO_HTTP_CAINFO; do
            eval file=\\$$name; echo $name $file $(grep -c BEGIN.CERTIFICATE $file)
        done
        echo system x $(grep -c BEGIN.CERTIFICATE /etc/ssl/certs/ca-certificates.crt)
        echo java "$JAVA_TOOL_OPTIONS"
        echo x > /run/stile-ca/ca.pem || echo read-only""")
    lines = {line.split()[0]: line.split()[1:] for line in done.out.splitlines()}
    roots = Path("/etc/ssl/certs/ca-certificates.crt").read_text().count("BEGIN CERTIFICATE")
    assert lines["NODE_EXTRA_CA_CERTS"][1] == "2" and lines["DENO_CERT"][1] == "2", done
    for name in ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT",
                 "AWS_CA_BUNDLE", "CARGO_HTTP_CAINFO", "system"):
        assert lines[name][1] == str(roots + 1), (name, done)
    assert lines["java"][0] == "-Dmine=1" and "read-only" in lines
    assert Path("/etc/ssl/certs/ca-certificates.crt").read_text().count("BEGIN CERTIFICATE") == roots


def test_a_card_with_request_rules_opens_its_hosts(fence):
    origin = fence.world.tls_origin("a.test")
    card = fence.write("card.json", json.dumps({
        "agent_id": "alpha", "request": [{"host": "a.test", "paths": ["/ok/**"]}]}))
    done = fence.shell("--card", card, script=f"""
        for path in ok/1 no; do
            curl -q -sS -o /dev/null -w '%{{http_code}}\\n' https://a.test:{fence.world.port}/$path
        done""")
    assert done.out.split() == ["200", "403"], done
    assert origin.paths() == ["/ok/1"]


def test_a_key_file_of_a_card_becomes_a_secret(fence):
    key = fence.write("key", VALUE + "\n", 0o600)
    origin = fence.world.tls_origin("api.anthropic.com")
    card = fence.write("card.json", json.dumps({
        "agent_id": "alpha", "allowed_hosts": ["api.anthropic.com"], "api_provider": "anthropic",
        "api_key_file": key}))
    done = fence.shell("--card", card, script=f"echo $ANTHROPIC_API_KEY; cat {key}; env")
    assert done.out.startswith("sk-ant-api03-") and VALUE not in done.out + done.err, done
    assert_untouched(origin)
    dry = fence.run("--card", card, "--dry-run", command=["x"])
    assert "ANTHROPIC_API_KEY" in dry.out and VALUE not in dry.out


def test_a_profile_takes_the_variable_that_people_have(fence):
    home = fence.folder / "home"
    home.mkdir()
    if os.geteuid() == 0:
        os.chown(home, USER, USER)
    env = environment(HOME=str(home), STILE_PROFILES=PROFILES, ANTHROPIC_API_KEY=VALUE)
    done = fence.shell("--profile", "claude", env=env, script="echo $ANTHROPIC_API_KEY; env")
    assert done.out.startswith("sk-ant-api03-") and VALUE not in done.out + done.err, done
    assert "ANTHROPIC_API_KEY is a placeholder inside" in done.err
    # A restriction comes from a less trusted hand: it must not replace the placeholder by the value.
    nothing = fence.write("agent-permissions.json", '{"environment": {}}')
    done = fence.shell("--profile", "claude", "--restrict", nothing, env=env, script="echo $ANTHROPIC_API_KEY; env")
    assert done.out.startswith("sk-ant-api03-") and VALUE not in done.out + done.err, done
    del env["ANTHROPIC_API_KEY"]
    done = fence.shell("--profile", "claude", env=env, script="env")
    assert "ANTHROPIC_API_KEY" not in done.out and "NODE_EXTRA_CA_CERTS" not in done.out, done


def test_a_profile_with_its_key_lets_a_websocket_through(user_fence):
    """Codex asks for one first. Without the key the host stays sealed, and Stile sees nothing of it."""
    fence = user_fence
    asked = ("GET /v1/responses HTTP/1.1\r\nHost: api.openai.com:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
             "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
    origin = fence.world.tls_origin("api.openai.com")
    origin.on("/v1/responses", response(b"", "426 Upgrade Required"))
    env = environment(STILE_PROFILES=PROFILES, OPENAI_API_KEY=VALUE)
    done = fence.python("--profile", "codex", env=env, script=f"""
import http.client, os
made = http.client.HTTPSConnection("127.0.0.1", 3128)
made.set_tunnel("api.openai.com", {fence.world.port})
made.connect()
made.sock.sendall({asked.format(port=fence.world.port).encode()!r})
print(made.sock.recv(1000).split(b"\\r\\n")[0].decode())
""")
    assert done.out == "HTTP/1.1 426 Upgrade Required\n", done
    assert origin.requests[0].values("authorization") == [f"Bearer {VALUE}"]
    assert origin.requests[0].values("upgrade") == ["websocket"]


def test_a_key_that_cannot_be_used_runs_nothing(keyed):
    for text, mode, word in [("short", 0o600, "8 bytes"), (VALUE, 0o644, "all users")]:
        keyed.write("key", text, mode)
        done = keyed.shell(*keyed.flags, script="echo ran")
        assert done.code == 125 and word in done.err and done.out == "", done
    done = keyed.shell("--secret", "x=nowhere:a.test", script="echo ran")
    assert done.code == 125 and done.out == ""
    assert keyed.shell("--secret", "nonsense", script="echo ran").code == 2


def test_java_trusts_the_ca_and_uses_the_proxy(keyed):
    if not shutil.which("javac"):
        pytest.skip("no JDK")
    keyed.write("Get.java", f"""
        public class Get {{
            public static void main(String[] words) throws Exception {{
                var connection = (java.net.HttpURLConnection) new java.net.URL("{keyed.url}").openConnection();
                System.out.println(connection.getResponseCode());
            }}
        }}""")
    done = keyed.run(*keyed.flags, command=["java", "-Xshare:auto", "Get.java"], seconds=120)
    assert done.out == "200\n", done
    assert keyed.origin.requests[0].values("x-api-key") == [VALUE]
