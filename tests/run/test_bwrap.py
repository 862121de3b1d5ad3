"""stile run --bwrap: bubblewrap around the files as well."""

import signal
import subprocess

import pytest
from harness.cli import environment


def test_only_the_workspace_can_be_written(user_fence):
    done = user_fence.shell("--bwrap", script="""
        echo mine > made && cat made
        for place in /etc /usr /var /opt /run; do touch $place/x 2>/dev/null && echo WROTE $place; done
        touch /tmp/x && echo temporary""")
    assert (done.code, done.out) == (0, "mine\ntemporary\n"), done
    assert (user_fence.folder / "made").read_text() == "mine\n"


def test_homes_are_empty(user_fence):
    done = user_fence.shell("--bwrap", script="ls -A /root /home")
    assert done.out.split() == ["/home:", "/root:"], done


def test_the_proxy_is_reached_and_nothing_else(user_fence):
    origin = user_fence.world.tls_origin("o.test")
    url = f"https://o.test:{user_fence.world.port}/"
    assert user_fence.curl("--bwrap", "--allow", "o.test", url=url).out == "200 200"
    assert user_fence.curl("--bwrap", url=url).out == "403 000"
    assert len(origin.connections) == 1


@pytest.mark.parametrize("script, status", [("exit 3", 3), ("kill -KILL $$", 137)])
def test_the_status_is_the_commands(user_fence, script, status):
    assert user_fence.shell("--bwrap", script=script).code == status


def test_what_cannot_be_run_is_126_and_what_is_not_there_127(user_fence):
    plain = user_fence.write("plain", "no program")
    assert user_fence.run("--bwrap", command=[plain]).code == 126
    assert user_fence.run("--bwrap", command=["no-such-command"]).code == 127


def test_without_bubblewrap_nothing_runs(user_fence):
    """A PATH that has no programs."""
    done = user_fence.run("--bwrap", command=["/bin/echo", "ran"], wrapper=[
        "/bin/sh", "-c", 'PATH=/nonexistent exec "$@"', "sh"])
    assert done.code == 125 and "ran" not in done.out, done


def test_a_workspace_that_is_too_wide_is_refused(user_fence):
    line = user_fence.line("--bwrap", command=["echo", "ran"])
    done = subprocess.run(line, cwd="/", env=environment(), capture_output=True, timeout=50,
                          check=False)
    assert done.returncode == 125 and b"--bwrap" in done.stderr and b"ran" not in done.stdout


def test_three_descriptors_and_no_more(user_fence):
    done = user_fence.shell("--bwrap", script="ls /proc/$$/fd")
    assert done.out.split() == ["0", "1", "2"], done


def test_signals_reach_the_command_itself(user_fence):
    process = user_fence.start("--bwrap", command=["/usr/bin/python3", "-c", r"""
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
os.write(1, b"ready\n")
signal.sigwait([signal.SIGTERM])
os.write(1, b"got it\n")
os._exit(33)
"""], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.stdout.read() == b"got it\n"
    assert process.wait(50) == 33


def test_an_exposed_path_is_seen_but_not_written(user_fence):
    done = user_fence.shell("--bwrap", "--expose", "/etc/hostname", script="""
        cat /etc/hostname >/dev/null && echo seen; touch /etc/hostname || echo safe""")
    assert done.out.split() == ["seen", "safe"], done


def test_as_root_it_is_the_same(root_fence):
    done = root_fence.shell("--bwrap", script="id -u; ls -A /root; touch /etc/x || echo safe")
    assert done.out.split() == ["65534", "safe"], done
