"""stile run: exit statuses, signals, descriptors, and what is left when the command has ended."""

import os
import signal
import subprocess
import time

import pytest
from harness.cli import environment
from harness.wait import until

PROXY = "http://127.0.0.1:3128"


@pytest.mark.parametrize("script, status", [
    ("exit 0", 0), ("exit 1", 1), ("exit 77", 77), ("exit 125", 125), ("kill -KILL $$", 137),
    ("kill -TERM $$", 143), ("kill -SEGV $$", 139)])
def test_the_status_is_the_commands(fence, script, status):
    assert fence.shell(script=script).code == status


def test_a_command_that_cannot_be_run_is_126_and_one_that_is_not_there_127(fence):
    plain = fence.write("plain", "no program")
    assert fence.run(command=[plain]).code == 126
    done = fence.run(command=["no-such-command-anywhere"])
    assert done.code == 127 and "no-such-command-anywhere" in done.err
    assert fence.run(command=["/no/such/command"]).code == 127


def test_a_command_sends_no_signal_to_the_processes_of_its_caller(fence):
    """kill(2) with 0 reaches a whole group, in any PID namespace: a script, a pipeline, `stile` itself."""
    attack = ["sh", "-c", "trap '' TERM; kill -TERM 0; kill -KILL 0"]
    line = fence.line(command=attack, config="")[len(fence.drop()):]
    caller = [*fence.drop(), "setsid", "-w", "sh", "-c", '"$@"; echo "then $?"', "sh"]
    done = subprocess.run([*caller, *line], cwd=fence.folder, env=environment(), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=50)
    assert (done.returncode, done.stdout) == (0, "then 137\n"), done


def test_usage_is_status_2_and_says_what_is_missing(fence):
    done = subprocess.run([*fence.drop(), fence.binary, "run", "--allow", "o.test"], check=False,
                          capture_output=True, env=environment(), cwd=fence.folder, timeout=50)
    assert done.returncode == 2 and b"COMMAND" in done.stderr


def test_arguments_after_the_dashes_are_the_commands_alone(fence):
    done = fence.run(command=["echo", "--allow", "x", "--", "check", "--help"])
    assert done.out == "--allow x -- check --help\n"


def test_the_proxy_is_in_the_environment_in_both_cases(fence):
    done = fence.run(command=["env"], env=environment(
        http_proxy="http://elsewhere:1", NO_PROXY="*", HTTPS_PROXY="", KEPT="yes"))
    found = dict(line.split("=", 1) for line in done.out.splitlines())
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        assert found[name] == found[name.lower()] == PROXY
    assert found["NO_PROXY"] == found["no_proxy"] == "localhost,127.0.0.1,::1"
    assert found["NODE_USE_ENV_PROXY"] == "1" and found["KEPT"] == "yes"
    assert found["STILE_RUN"] == found["AGENT_IN_SANDBOX"] == "1"


def test_the_command_inherits_three_descriptors_and_no_more(fence):
    with open(os.devnull, "rb") as extra:
        process = fence.start(command=["sh", "-c", "ls /proc/$$/fd"], pass_fds=[extra.fileno()],
                              stdout=subprocess.PIPE)
        out, _ = process.communicate(timeout=50)
    assert out.split() == [b"0", b"1", b"2"] and process.returncode == 0


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_descriptors_do_not_become_ours(fence, closed):
    """Else the next thing that is opened takes their number, and the command inherits it."""
    found = fence.write("found", "", 0o666)
    line = fence.line("--audit", str(fence.folder / "audit.jsonl"), command=[
        "sh", "-c", f"ls -l /proc/$$/fd > {found}"])
    process = subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", *line], check=False,
                             cwd=fence.folder, env=environment(), timeout=50,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    assert process.returncode == 0
    targets = [line.split("-> ")[1] for line in open(found) if "-> " in line]
    assert targets and set(targets) <= {"/dev/null\n", f"{found}\n"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_reach_the_command(fence, number):
    """It can handle them, and its own status counts."""
    process = fence.start(command=["/usr/bin/python3", "-c", f"""
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [{int(number)}])
os.write(1, b"ready\\n")
signal.sigwait([{int(number)}])
os.write(1, b"got it\\n")
os._exit(33)
"""], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    assert process.stdout.read() == b"got it\n"
    assert process.wait(50) == 33


def test_a_command_that_a_passed_signal_ends_is_128_and_its_number(fence):
    process = fence.start(command=["sh", "-c", "echo ready; exec sleep 1000"],
                          stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(50) == 128 + signal.SIGTERM


def beats(path):
    """Whether whatever writes there is still alive, judged by the file growing."""
    before = path.stat().st_size
    deadline = time.monotonic() + 0.5
    while time.monotonic() < deadline:
        if path.stat().st_size != before:
            return True
        time.sleep(0.02)
    return False


DAEMON = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        while True:
            with open("beat", "a") as file: file.write("x")
            time.sleep(0.01)
    os._exit(0)
while not os.path.exists("beat") or os.path.getsize("beat") == 0: time.sleep(0.01)
"""


def test_what_the_command_leaves_running_is_killed(user_fence):
    beat = user_fence.folder / "beat"
    done = user_fence.python(script=DAEMON)
    assert done.code == 0 and beat.stat().st_size > 0, done
    assert not beats(beat)


def test_nothing_outlives_a_stile_that_is_killed(user_fence):
    beat = user_fence.folder / "beat"
    process = user_fence.start(command=["/usr/bin/python3", "-c", DAEMON + "\nsignal.pause()"])
    until(lambda: beat.exists() and beat.stat().st_size > 0, 30, "a sign of life")
    process.kill()
    process.wait(50)
    until(lambda: not beats(beat), 30, "the end of what was inside")


def test_root_is_never_mapped(fence):
    done = fence.shell(script="cat /proc/self/uid_map /proc/self/gid_map; id -u; id -G")
    ids = done.out.split()
    assert "0" not in ids, done.out


def test_as_root_the_command_is_the_owner_of_the_workspace(root_fence):
    fence = root_fence
    os.chown(fence.folder, 61235, 61236)
    done = fence.shell(config="", script="id -u; id -g; echo $HOME; touch made")
    assert done.out.split() == ["61235", "61236", "/tmp"], done
    assert (fence.folder / "made").stat().st_uid == 61235


def test_as_root_a_workspace_that_cannot_be_written_is_named(root_fence):
    """In containers everything is root's, and root is not passed on."""
    done = root_fence.shell(config="", script="touch made 2>/dev/null || echo refused", has_notice=True)
    assert done.out == "refused\n" and str(root_fence.folder) in done.err and "install -d -o nobody" in done.err, done
    assert "chown" not in done.err  # pasted in /etc it would give the system away
    os.chown(root_fence.folder, 1000, 1000)
    done = root_fence.shell(config="", script="touch made && echo done", has_notice=True)
    assert (done.out, done.err) == ("done\n", ""), done


NO_NAMESPACES = """
import os, sys
sys.path.insert(0, sys.argv[1])
import private_host
private_host.forbid_user_namespaces()
os.execvp(sys.argv[2], sys.argv[2:])
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_without_user_namespaces_nothing_runs_and_the_setting_is_named(fence):
    here = os.path.dirname(os.path.abspath(__file__))
    done = fence.shell(script="echo ran", wrapper=["/usr/bin/python3", "-c", NO_NAMESPACES, here])
    assert done.code == 125 and "ran" not in done.out
    assert "user.max_user_namespaces" in done.err
