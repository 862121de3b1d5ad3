"""stile run --connect: a daemon that runs already serves the command."""

import json
import os
import socket
import subprocess

import pytest
from fence import USER
from harness.checks import assert_untouched
from harness.wait import until


@pytest.fixture
def daemon(fence):
    """With its control socket where the user of the fence may use it."""
    fence.control = fence.world.short_path("control.sock")
    proxy = fence.world.start(server={"control": fence.control})
    until(lambda: os.path.exists(fence.control), 20, "the control socket")
    os.chmod(os.path.dirname(fence.control), 0o755)
    if fence.is_user and os.geteuid() == 0:
        os.chown(fence.control, USER, USER)
    return proxy


def curl(fence, *flags, name="o.test"):
    return fence.curl("--connect", fence.control, *flags, config="",
                      url=f"https://{name}:{fence.world.port}/")


def test_the_daemon_serves_and_logs(fence, daemon):
    origin = fence.world.tls_origin("o.test", address=fence.world.new_address())
    fence.world.tls_origin("x.test")
    daemon.settings["egress"]["private_exceptions"] = list(fence.world.exceptions)
    daemon.reload()
    daemon.audit.wait_one(event="policy")
    done = curl(fence, "--allow", "o.test")
    assert done.out == "200 200", done.err
    assert origin.names() == ["o.test"] and "1 request" in done.err
    done = curl(fence, "--allow", "o.test", name="x.test")
    assert done.out == "403 000" and "refused x.test" in done.err
    agents = {line["agent"] for line in daemon.audit.entries() if line["event"] in ("open", "deny")}
    assert len(agents) == 2 and all(agent.startswith("run-") for agent in agents)


def test_programs_that_know_no_proxy_are_captured(fence, daemon):
    origin = fence.world.tls_origin("o.test", port=443 if os.geteuid() == 0 else None)
    port = origin.port
    daemon.settings["egress"].update(ports=[port], private_exceptions=list(fence.world.exceptions))
    daemon.reload()
    daemon.audit.wait_one(event="policy")
    url = f"https://o.test:{port}/"
    done = fence.curl("--connect", fence.control, "--allow", f"o.test:{port}", config="", url=url, more=["--noproxy", "*"])
    assert done.out == "000 200", done.err
    assert origin.names() == ["o.test"]
    line = daemon.audit.wait_one(event="open")
    assert line["method"] == "TCP" and line["agent"].startswith("run-") and line["host"] == "o.test"
    done = fence.curl("--connect", fence.control, "--allow", "x.test", config="", url=url, more=["--noproxy", "*"])
    assert done.code == 6 and "refused o.test (host-not-allowed)" in done.err, done
    done = fence.curl("--connect", fence.control, "--allow", f"o.test:{port}", "--no-capture", config="", url=url,
                      more=["--noproxy", "*"])
    assert done.code == 6 and len(origin.names()) == 1, done


def test_a_daemon_that_captures_nothing_says_so(fence):
    fence.control = fence.world.short_path("control.sock")
    fence.world.start(server={"control": fence.control}, netns={"capture": False})
    until(lambda: os.path.exists(fence.control), 20, "the control socket")
    os.chmod(os.path.dirname(fence.control), 0o755)
    if fence.is_user and os.geteuid() == 0:
        os.chown(fence.control, USER, USER)
    done = fence.shell("--connect", fence.control, config="", script="echo ran")
    assert done.code == 125 and "netns.capture" in done.err and "--no-capture" in done.err and done.out == "", done
    assert fence.shell("--connect", fence.control, "--no-capture", config="", script="echo ran").out == "ran\n"


def test_a_card_gives_the_name(fence, daemon):
    card = fence.write("card.json", json.dumps({"agent_id": "alpha", "allowed_hosts": ["c.test"]}))
    done = curl(fence, "--card", card, name="x.test")
    assert done.out == "403 000", done
    assert daemon.audit.wait_one(event="deny")["agent"] == "alpha"


def test_the_agent_goes_with_the_command(fence, daemon):
    card = fence.write("card.json", json.dumps({"agent_id": "alpha", "allowed_hosts": ["c.test"]}))
    for _ in range(2):  # its name would be taken
        assert curl(fence, "--card", card, name="x.test").out == "403 000"


def test_a_daemon_that_ends_in_mid_run_is_told_of(fence, daemon):
    command = fence.start("--connect", fence.control, command=["sh", "-c", "echo ready; read line"], config="",
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert command.stdout.readline() == b"ready\n"
        daemon.stop()
        _, err = command.communicate(b"go\n", 30)
    finally:
        command.kill()
    assert f"the daemon at {fence.control} has ended" in err.decode() and command.returncode == 0


def test_without_a_daemon_nothing_runs(fence):
    done = fence.shell("--connect", str(fence.folder / "none.sock"), config="", script="echo ran")
    assert done.code == 125 and "ran" not in done.out and "none.sock" in done.err


def test_a_daemon_that_does_not_answer_is_not_waited_for(fence):
    path = fence.world.short_path("silent.sock")
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(path)
        silent.listen()
        os.chmod(os.path.dirname(path), 0o755)
        os.chmod(path, 0o666)
        done = fence.shell("--connect", path, config="", script="echo ran")
    assert done.code == 125 and done.out == "", done
    assert "has not answered" in done.err and "nothing was run" in done.err


def test_the_command_does_not_see_the_control_socket(fence, daemon):
    done = fence.python("--connect", fence.control, config="", script=f"""
import socket
print(socket.socket(socket.AF_UNIX).connect_ex({fence.control!r}) != 0)
""")
    assert done.out == "True\n", done


def test_what_the_daemon_denies_stays_denied(fence, daemon):
    origin = fence.world.tls_origin("o.test")
    daemon.settings["egress"].update(deny=["o.test"],
                                     private_exceptions=list(fence.world.exceptions))
    daemon.reload()
    daemon.audit.wait_one(event="policy")
    done = curl(fence, "--allow", "o.test")
    assert done.out == "403 000" and "(host-denied)" in done.err
    assert_untouched(origin)


def test_the_ca_and_the_placeholders_of_the_daemon_are_used(fence):
    world = fence.world
    origin = world.tls_origin("a.test")
    world.secret("api", "sk-real-value-0123456789", ["a.test"], header="X-Api-Key", agent_env="API_KEY")
    fence.control = world.short_path("control.sock")
    daemon = world.start()
    until(lambda: os.path.exists(fence.control), 20, "the control socket")
    os.chmod(os.path.dirname(fence.control), 0o755)
    if fence.is_user and os.geteuid() == 0:
        os.chown(fence.control, USER, USER)
    card = fence.write("card.json", json.dumps(
        {"agent_id": "alpha", "allowed_hosts": ["a.test"], "secrets": ["api"]}))
    done = fence.shell("--connect", fence.control, "--card", card, config="", script=f"""
        curl -q -sS -o /dev/null -w '%{{http_code}}\\n' -H "X-Api-Key: $API_KEY" https://a.test:{world.port}/; env""")
    assert done.out.startswith("200\n") and "sk-real" not in done.out, done
    assert origin.requests[0].values("x-api-key") == ["sk-real-value-0123456789"]
    assert daemon.audit.wait_one(event="open")["secret"] == "api"
    done = fence.shell("--connect", fence.control, "--secret", "x=/etc/hostname:a.test", config="", script="echo ran")
    assert done.code == 125 and "--connect" in done.err and done.out == ""
