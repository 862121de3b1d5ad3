"""stile run: cards that describe a worker whole, profiles, restrictions, limits, dry runs."""

import json
import os
from pathlib import Path

import pytest
from fence import USER
from harness.checks import assert_untouched
from harness.cli import environment
from harness.stiled import build_folder

PROFILES = str(Path(__file__).resolve().parents[2] / "profiles")


def give(fence, path):
    if os.geteuid() == 0:
        os.chown(path, USER, USER)
    return path


@pytest.fixture
def workspace(fence):
    folder = fence.folder / "worker"
    folder.mkdir()
    (folder / "notes").write_text("notes\n")
    (folder / ".env").write_text("SECRET=1\n")
    (folder / "out").mkdir()
    for path in (folder, folder / "notes", folder / ".env", folder / "out"):
        give(fence, path)
    return folder


def card(fence, workspace, **more):
    return fence.write("card.json", json.dumps({"agent_id": "alpha", "workspace": str(workspace), **more}))


def with_profiles(home, **more):
    return environment(HOME=str(home), STILE_PROFILES=PROFILES, **more)


def test_a_card_describes_a_worker_whole(fence, workspace):
    data = fence.folder / "data"
    data.mkdir()
    (data / "file").write_text("data\n")
    given = card(fence, workspace, read=[str(data)], environment={"COLOUR": "green", "HTTPS_PROXY": "http://elsewhere"},
                 command=["sh", "-c", f"""
        pwd; cat notes; echo made > made; echo $COLOUR $HTTPS_PROXY $AGENT_IN_SANDBOX; cat {data}/file
        touch {data}/x 2>/dev/null && echo WROTE; cat .env; ls {workspace} 2>/dev/null && echo SEEN; ls /"""])
    done = fence.run("--card", given, command=[], config="")
    lines = done.out.splitlines()
    assert lines[:4] == ["/workspace", "notes", "green http://127.0.0.1:3128 1", "data"], done
    assert "WROTE" not in lines and "SEEN" not in lines and "SECRET" not in done.out
    assert (workspace / "made").read_text() == "made\n"


def test_a_command_of_the_flags_replaces_that_of_the_card(fence, workspace):
    given = card(fence, workspace, command=["echo", "card"])
    assert fence.run("--card", given, command=["echo", "flag"], config="").out == "flag\n"
    done = fence.run("--card", card(fence, workspace), command=[], config="")
    assert done.code == 125 and "no command" in done.err


def test_a_workspace_that_is_a_link_or_missing_is_refused(fence, workspace):
    (fence.folder / "link").symlink_to(workspace)
    for path, word in [(fence.folder / "link", "link"), (fence.folder / "none", "not a directory"),
                       (workspace / "notes", "not a directory"), ("/", "--files host")]:
        done = fence.run("--card", card(fence, path), command=["echo", "ran"], config="")
        assert done.code == 125 and word in done.err and done.out == "", (path, done)


def test_a_key_whose_host_is_not_known_is_given_to_the_command_and_said(fence, workspace):
    key = fence.write("key", "sk-planted\n", 0o600)
    given = card(fence, workspace, api_provider="custom", api_key_file=key)
    done = fence.run("--card", given, command=["sh", "-c", "echo $API_KEY"], config="")
    assert done.out == "sk-planted\n" and "the command can read the key" in done.err, done
    assert "sk-planted" not in fence.run("--card", given, "--dry-run", command=["x"], config="").out


def test_a_restriction_takes_away(fence, workspace):
    world = fence.world
    kept, lost = world.tls_origin("a.example.test"), world.tls_origin("b.example.test")
    given = card(fence, workspace, allowed_hosts=[".example.test"])
    limits = fence.write("agent-permissions.json", json.dumps({
        "allowed_hosts": ["a.example.test"], "write": ["out"], "resource_limits": {"max_open_files": 40}}))
    done = fence.shell("--card", given, "--restrict", limits, script=f"""
        touch x 2>/dev/null && echo WROTE; touch out/x && echo out; cat notes; ulimit -n
        for name in a b; do
            curl -q -s -k -o /dev/null -w '%{{http_connect}}\\n' https://$name.example.test:{world.port}/
        done""")
    assert done.out.split() == ["out", "notes", "40", "200", "403"], done
    assert len(kept.connections) == 1
    assert_untouched(lost)
    assert "restricted by" in done.err


@pytest.mark.parametrize("text, word", [
    ('{"allowed_hosts": ["*"]}', "allowed_hosts"), ('{"read": ["/etc"]}', "read"),
    ('{"write": ["../x"]}', ".."), ('{"files": "host"}', "unknown key"),
    ('{"network": false, "network": true}', "network"), ("{" + " " * 70000 + "}", "65536"),
    ('{"read": ["loop"]}', "link"), ('{"read": [".env"]}', "is hidden"), ('{"write": [".env"]}', "is hidden"),
    ('{"read": [".ssh"]}', "is hidden"), ('{"read": [".ssh/id"]}', "is hidden")])
def test_a_restriction_that_would_widen_is_refused(fence, workspace, text, word):
    (workspace / "loop").symlink_to("/etc")
    (workspace / ".env").write_text("TOKEN=1")
    (workspace / ".ssh").mkdir()
    (workspace / ".ssh" / "id").write_text("key")
    limits = fence.write("limits.json", text)
    done = fence.run("--card", card(fence, workspace), "--restrict", limits, command=["echo", "ran"], config="")
    assert done.code == 125 and done.out == "" and word in done.err, done


def test_a_restriction_is_read_through_no_link_and_from_no_pipe(fence, workspace):
    fence.write("real.json", "{}")
    (fence.folder / "link.json").symlink_to("real.json")
    os.mkfifo(fence.folder / "pipe.json")
    os.chmod(fence.folder / "pipe.json", 0o666)
    for name in ("link.json", "pipe.json", "none.json"):
        done = fence.run("--restrict", fence.folder / name, command=["echo", "ran"], config="")
        assert done.code == 125 and done.out == "", (name, done)


def test_without_a_network_every_request_is_refused(fence):
    origin = fence.world.tls_origin("o.test")
    limits = fence.write("limits.json", '{"network": false}')
    done = fence.curl("--allow", "o.test", "--restrict", limits, url=f"https://o.test:{fence.world.port}/")
    assert done.out == "403 000"
    assert_untouched(origin)


def test_a_dry_run_prints_everything_and_runs_nothing(fence, workspace):
    given = card(fence, workspace, allowed_hosts=["a.test"], denied_hosts=["b.test"], environment={"TOKEN": "planted"},
                 resource_limits={"memory_mb": 512}, command=["touch", "/workspace/ran", "not this"])
    done = fence.run("--card", given, "--dry-run", command=[], config="")
    assert done.code == 0, done
    for text in ('allow = ["a.test"]', 'deny = ["b.test"]', f"/workspace: writable, {workspace} of the host",
                 "/usr: read-only", "127.0.0.1:3128", "TOKEN", "memory_mb = 512", "touch /workspace/ran 'not this'\n"):
        assert text in done.out, (text, done.out)
    assert "planted" not in done.out
    assert not (workspace / "ran").exists()


def test_a_sandbox_in_a_sandbox_needs_a_flag(fence):
    inside = environment(AGENT_IN_SANDBOX="1")
    done = fence.run(command=["echo", "ran"], config="", env=inside)
    assert done.code == 125 and "--nested" in done.err and done.out == ""
    assert fence.run("--nested", command=["echo", "ran"], config="", env=inside).out == "ran\n"


@pytest.mark.skipif(build_folder().name == "tsan", reason="the thread sanitizer needs more memory")
def test_limits_hold_for_the_command_and_its_children(user_fence):
    folder = user_fence.folder / "worker"
    folder.mkdir()
    give(user_fence, folder)
    given = card(user_fence, folder, resource_limits={
        "memory_mb": 64, "max_processes": 8, "max_open_files": 32, "disk_mb": 2, "cpu_percent": 50})
    done = user_fence.python("--card", given, config="", script="""
import os, resource, signal
print(resource.getrlimit(resource.RLIMIT_NOFILE)[1], flush=True)
children = []
try:
    for _ in range(20):
        child = os.fork()
        if child == 0:
            signal.pause()
        children.append(child)
except OSError:
    pass
print(len(children), flush=True)
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for name in ("big", "/tmp/big"):
    try:
        with open(name, "wb", buffering=0) as file:
            for _ in range(50):
                file.write(bytes(65536))
    except OSError:
        pass
    print(os.path.getsize(name) <= 2097152)
""")
    found = done.out.split()
    assert found[0] == "32" and 1 <= int(found[1]) < 8 and found[2:] == ["True", "True"], done
    assert "disk_mb limits each file" in done.err and ("cpu_percent" in done.err) == ("systemd" in done.err)
    script = "b = bytearray(200 << 20); print('GOT IT')"
    done = user_fence.python("--card", given, config="", script=script)
    assert "GOT IT" not in done.out and "MemoryError" in done.err, done


def test_a_card_that_runs_out_ends_the_command(user_fence):
    folder = user_fence.folder / "worker"
    folder.mkdir()
    give(user_fence, folder)
    given = card(user_fence, folder, ttl_seconds=1)
    done = user_fence.run("--card", given, command=["sleep", "1000"], config="")
    assert done.code == 128 + 15 and "the agent has expired" in done.err, done


@pytest.fixture
def agent(user_fence):
    """A program called `claude` on the PATH, and a home with what it keeps there."""
    home, programs = user_fence.folder / "home", user_fence.folder / "bin"
    for folder in (home, programs, home / ".claude", home / ".ssh"):
        folder.mkdir()
        give(user_fence, folder)
    (home / ".claude" / "settings").write_text("settings\n")
    (home / ".ssh" / "id_ed25519").write_text("planted key\n")
    program = programs / "claude"
    program.write_text("#!/bin/sh\ncat ~/.claude/settings; touch ~/.claude/new && echo wrote\n"
                       "ls -A ~; cat ~/.ssh/id_ed25519; echo $DISABLE_AUTOUPDATER\n")
    program.chmod(0o755)
    project = user_fence.folder / "project"
    project.mkdir()
    give(user_fence, project)
    return with_profiles(home, PATH=f"{programs}:/usr/bin:/bin"), home


def test_a_known_agent_gets_its_profile_by_itself(user_fence, agent):
    env, home = agent
    done = user_fence.run(command=["claude"], config="", env=env)
    assert done.out.splitlines()[:2] == ["settings", "wrote"] and done.out.endswith("1\n"), done
    assert "planted" not in done.out and ".ssh" not in done.out
    assert "profile claude" in done.err
    assert (home / ".claude" / "new").exists()


def test_a_profile_can_be_left_out_or_named(user_fence, agent):
    env, home = agent
    done = user_fence.run("--no-profile", command=["claude"], config="", env=env)
    assert "settings" not in done.out and "profile" not in done.err, done
    done = user_fence.run("--profile", "claude", command=["cat", f"{home}/.claude/settings"], config="", env=env)
    assert done.out == "settings\n"
    done = user_fence.run("--profile", "nothing", command=["echo", "ran"], config="", env=env)
    assert done.code == 2 and "no profile 'nothing'" in done.err and done.out == ""


def test_a_program_of_a_project_is_not_taken_for_the_agent(user_fence, agent):
    env, home = agent
    impostor = user_fence.write("claude", "#!/bin/sh\ncat ~/.claude/settings\n", 0o755)
    for command in (impostor, "./claude"):
        done = user_fence.run(command=[command], config="", env=env)
        assert "settings\n" not in done.out and "profile" not in done.err, done


def test_refusals_that_a_profile_expects_are_not_listed(user_fence, agent):
    env, home = agent
    done = user_fence.run("--profile", "claude", env=env, command=[
        "sh", "-c", f"curl -q -s https://statsig.anthropic.com:{user_fence.world.port}/;"
                    f"curl -q -s https://other.test:{user_fence.world.port}/; true"])
    assert "statsig" not in done.err and "1 of them expected by the profile" in done.err, done
    assert "refused other.test" in done.err


def test_profiles_are_listed_and_shown(user_fence, agent):
    import subprocess
    env, _ = agent
    def stile(*words):
        return subprocess.run([user_fence.binary, *words], env=env, capture_output=True, text=True, check=True).stdout
    assert {"claude", "opencode", "codex", "gemini", "aider", "shell"} <= set(stile("profile").split())
    assert "api.anthropic.com" in stile("profile", "claude")
    assert json.loads(stile("profile", "claude", "--json"))["write"] == ["~/.claude", "~/.claude.json"]
