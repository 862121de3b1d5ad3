"""stile run: the files that the command sees are a view that is built up from nothing."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from fence import USER
from harness.cli import environment


@pytest.fixture
def home():
    """A home of the fence's user with things that are nobody's business."""
    folder = Path(tempfile.mkdtemp(prefix="stile-home-"))
    (folder / ".ssh").mkdir()
    (folder / ".ssh" / "id_ed25519").write_text("secret key")
    (folder / "notes").write_text("private notes")
    (folder / "shared").mkdir()
    (folder / "shared" / "data").write_text("shared data")
    give(folder)
    yield folder
    shutil.rmtree(folder)


def give(folder):
    for path in [folder, *folder.rglob("*")]:
        if os.geteuid() == 0:
            os.chown(path, USER, USER, follow_symlinks=False)


def in_home(home, **more):
    return environment(HOME=str(home), **more)


def test_the_system_is_read_only_and_the_workspace_is_not(fence):
    if not fence.is_user:
        os.chown(fence.folder, USER, USER)
    done = fence.shell(config="", script="""
        echo mine > made && cat made
        for place in / /etc /usr /usr/bin /opt /sys /proc/sys /var; do
            touch $place/x 2>/dev/null && echo WROTE $place
        done
        for place in /tmp /var/tmp /dev/shm /run; do touch $place/x || echo NOT $place; done""")
    assert (done.code, done.out) == (0, "mine\n"), done
    assert (fence.folder / "made").read_text() == "mine\n"
    assert not os.path.exists("/tmp/x")


def test_nothing_else_of_the_host_is_there(fence):
    plain = environment(HOME="/tmp", PATH="/usr/bin:/bin")
    done = fence.shell(env=plain, script="ls -A /; ls -A /..; ls -A /home /root /srv /mnt /var/log 2>/dev/null; true")
    assert set(done.out.split()) <= {"bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "opt", "nix", "gnu",
                                     "var", "tmp", "run", "dev", "proc", "sys"}, done.out
    done = fence.shell(script="cat /proc/self/mountinfo")
    points = [line.split()[4] for line in done.out.splitlines()]
    assert points.count("/") == 1 and not [point for point in points if point.startswith("/sys/")], done.out


def test_home_is_empty_and_its_own(user_fence, home):
    done = user_fence.shell(env=in_home(home), script="echo $HOME; ls -A $HOME; echo x > $HOME/made; cat $HOME/made")
    assert done.out.split() == [str(home), "x"], done
    assert not (home / "made").exists()


def test_read_and_write_show_what_they_name(user_fence, home):
    done = user_fence.shell("--read", home / "notes", "--write", home / "shared", env=in_home(home), script="""
        cat $HOME/notes $HOME/shared/data; echo
        echo x >> $HOME/notes && echo WROTE
        echo more > $HOME/shared/new; ls -A $HOME""")
    assert done.out.split("\n") == ["private notesshared data", "notes", "shared", ""], done
    assert (home / "shared" / "new").read_text() == "more\n"
    assert (home / "notes").read_text() == "private notes"


@pytest.mark.parametrize("flag", ["--read", "--write"])
def test_what_is_named_must_exist_and_be_no_link(user_fence, home, flag):
    (user_fence.folder / "link").symlink_to(home)
    for path, code, word in [(home / "none", 2, "none does not exist"), ("/", 125, "--files host"),
                             (user_fence.folder / "link", 125, "a part of it is a link")]:
        done = user_fence.shell(flag, path, script="echo ran")
        assert done.code == code and word in done.err and done.out == "", done


def test_secrets_are_covered_in_what_is_shown(user_fence, home):
    workspace = user_fence.folder
    (workspace / "deep" / "down").mkdir(parents=True)
    for name in (".env", "deep/down/.env.local", "deep/.netrc"):
        (workspace / name).write_text("TOKEN=secret")
    (workspace / ".env.example").write_text("TOKEN=")
    (workspace / "deep" / ".ssh").mkdir()
    (workspace / "deep" / ".ssh" / "key").write_text("secret")
    give(workspace)
    script = """
        cat .env deep/down/.env.local deep/.netrc deep/.ssh/key 2>/dev/null
        cat .env.example; echo x 2>/dev/null > .env && echo WROTE; rm -f .env 2>/dev/null; mv deep/.netrc x 2>/dev/null
        true"""
    done = user_fence.shell(script=script)
    assert done.out == "TOKEN=" and "hidden from the command: " in done.err and "--read PATH" in done.err, done
    assert (workspace / ".env").read_text() == (workspace / "deep" / ".netrc").read_text() == "TOKEN=secret"
    named = user_fence.shell("--read", workspace / ".env", "--read", workspace / "deep/.ssh/key", script=script)
    assert named.out == "TOKEN=secretsecretTOKEN=", named
    whole = user_fence.shell("--write", home, env=in_home(home), script="cat $HOME/notes; ls -A $HOME/.ssh")
    assert whole.out == "private notes", whole


def test_names_that_an_earlier_command_chose_cannot_draw_on_the_terminal(user_fence):
    (user_fence.folder / ".env.\x1b[2J").write_text("")
    (user_fence.folder / ".env.\x9b2J").write_text("")
    give(user_fence.folder)
    done = user_fence.shell(script="true")
    assert "hidden from the command" in done.err and "\x1b" not in done.err and "\x9b" not in done.err, done


@pytest.mark.parametrize("flag", ["--read", "--restrict"])
def test_what_a_link_of_an_earlier_command_leads_to_cannot_draw_or_begin_a_line(user_fence, flag):
    place = user_fence.folder / "x\x1b[2J\nstile: fine"
    place.mkdir()
    (user_fence.folder / "link").symlink_to(place)
    give(user_fence.folder)
    done = user_fence.shell(flag, "link", script="true")
    assert done.code == 125 and "a part of it is a link" in done.err, done
    assert "\x1b" not in done.err and done.err.count("\n") == 1, done


@pytest.mark.parametrize("where", ["home", "above"])
def test_a_home_is_no_workspace(user_fence, home, where):
    user_fence.folder = home if where == "home" else home.parent
    done = user_fence.shell(env=in_home(home), config="", script="pwd; ls -A .")
    assert "notes" not in done.out and ".ssh" not in done.out, done
    if where == "home":
        assert done.out.split() == [str(home)] and "--write PATH" in done.err, done


def test_all_files_of_the_host_at_your_word(user_fence, home):
    done = user_fence.shell("--files", "host", env=in_home(home), script="ls /; cat /etc/hostname; ls -A /tmp")
    assert "boot" in done.out.split() or "srv" in done.out.split(), done
    assert "--files host: the command can read and change every file" in done.err
    assert home.name not in done.out  # /tmp is shared by everybody
    assert user_fence.shell("--files", "some", script="true").code == 2


def test_programs_of_path_in_the_home_can_be_run(user_fence, home):
    """As nvm, pipx and cargo install them: beside their library, and as links."""
    tool = home / ".tools" / "v1"
    (tool / "bin").mkdir(parents=True)
    (tool / "lib").mkdir()
    (tool / "lib" / "part").write_text("whole")
    (tool / "bin" / "tool").write_text("#!/bin/sh\ncat $(dirname $(readlink -f $0))/../lib/part\n")
    (tool / "bin" / "tool").chmod(0o755)
    (home / ".local" / "bin").mkdir(parents=True)
    (home / ".local" / "bin" / "linked").symlink_to(tool / "bin" / "tool")
    (home / ".current").symlink_to(".tools/v1")
    give(home)
    for path, command in [(tool / "bin", "tool"), (home / ".local" / "bin", "linked"),
                          (home / ".current" / "bin", "tool"), ("/nowhere", str(tool / "bin" / "tool"))]:
        done = user_fence.run(command=[command], env=in_home(home, PATH=f"{path}:/usr/bin:/bin"))
        assert (done.code, done.out) == (0, "whole"), (path, done)
    done = user_fence.shell(env=in_home(home, PATH=f"{home}/.local/bin:/usr/bin:/bin"),
                            script="ls -A $HOME; touch $HOME/.local/bin/x")
    assert done.code == 1 and sorted(done.out.split()) == [".local", ".tools"], done


def test_what_reaches_control_groups_is_not_there(fence):
    """Whoever may write there could freeze or kill what else the user runs."""
    done = fence.shell(script="ls -A /sys/fs/cgroup; find / -xdev -name cgroup.procs 2>/dev/null; true")
    assert done.out == "", done


def test_a_sandbox_inside_works(user_fence):
    """Agents bring one of their own."""
    done = user_fence.shell(script="""
        bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --bind $PWD $PWD --unshare-all touch made &&
        unshare --user --map-root-user --mount --pid --fork --mount-proc sh -c 'mount -t tmpfs x /tmp && echo root'""")
    assert done.out == "root\n" and (user_fence.folder / "made").exists(), done


def test_root_of_a_namespace_inside_uncovers_nothing(user_fence):
    """Not by taking mounts away, copying trees without what is mounted in them, or an overlay."""
    user_fence.write(".env", "secret")
    done = user_fence.shell(script="""
        unshare --user --map-root-user --mount sh -c '
            mkdir /tmp/a /tmp/b /tmp/u /tmp/w
            umount -l .env; umount -l /etc/shadow; mount --bind $PWD /tmp/a; cat /tmp/a/.env
            mount --rbind $PWD /tmp/a; umount -l /tmp/a/.env; cat .env /tmp/a/.env
            mount -t overlay o -o lowerdir=$PWD,upperdir=/tmp/u,workdir=/tmp/w /tmp/b; cat /tmp/b/.env
            mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t cgroup2 c /tmp/b; ls /..' 2>/dev/null
        echo ended""")
    assert "secret" not in done.out and "boot" not in done.out and done.out.endswith("ended\n"), done


def test_the_log_cannot_be_exchanged(user_fence):
    """By renaming a directory above it, and making another one in its place."""
    logs = user_fence.folder / "a" / "logs"
    logs.mkdir(parents=True)
    give(user_fence.folder)
    log = logs / "audit.jsonl"
    done = user_fence.shell("--audit", log, script="""
        mv a/logs a/old && echo MOVED; mv a b && echo MOVED; rm -rf a/logs; mkdir -p a/logs
        echo forged > a/logs/audit.jsonl; ln a/logs/audit.jsonl a/other; echo more >> a/other
        mv -f a/other a/logs/audit.jsonl; true""")
    assert done.code == 0 and "MOVED" not in done.out, done
    assert '"event":"stop"' in log.read_text() and "forged" not in log.read_text()


def test_a_log_that_was_exchanged_is_told_loudly(user_fence):
    log = user_fence.folder / "audit.jsonl"
    process = user_fence.start("--audit", log, command=["sh", "-c", "echo ready; read line"],
                               stdin=-1, stdout=-1, stderr=-1)
    assert process.stdout.readline() == b"ready\n"
    os.rename(log, log.with_name("old"))
    log.write_text("forged")
    _, err = process.communicate(b"\n", timeout=50)
    assert process.returncode == 125 and b"is not the file that was logged to" in err, err


def test_a_log_with_another_name_is_refused(user_fence):
    """The command could write to it by that one."""
    log = user_fence.write("audit.jsonl", "")
    os.link(log, user_fence.folder / "other")
    done = user_fence.shell("--audit", log, script="echo ran")
    assert done.code == 125 and "another name" in done.err and done.out == "", done


def test_a_log_is_not_written_through_a_link(fence):
    elsewhere = fence.folder / "elsewhere"
    elsewhere.mkdir()
    (fence.folder / "link").symlink_to(elsewhere)
    (fence.folder / "audit.jsonl").symlink_to(elsewhere / "file")
    for log in ("audit.jsonl", "link/audit.jsonl"):
        done = fence.shell("--audit", fence.folder / log, script="echo ran")
        assert done.code == 125 and "a part of it is a link" in done.err and done.out == "", done
    assert not list(elsewhere.iterdir())


def test_nor_through_a_link_below_dev(fence):
    """Any user can make links in /dev/shm; those that the system makes in /dev are followed."""
    elsewhere = fence.folder / "elsewhere"
    shared = Path(tempfile.mkdtemp(prefix="stile-test-", dir="/dev/shm"))
    shared.chmod(0o755)
    try:
        (shared / "audit.jsonl").symlink_to(elsewhere)
        (fence.folder / "audit.jsonl").symlink_to(elsewhere)
        for log in (shared / "audit.jsonl", f"/dev/..{fence.folder}/audit.jsonl", f"/dev/fd/../..{shared}/audit.jsonl"):
            done = fence.shell("--audit", log, script="echo ran")
            assert done.code == 125 and done.out == "" and not elsewhere.exists(), done
    finally:
        shutil.rmtree(shared)
    assert fence.shell("--audit", "/dev/null", script="echo ran").out == "ran\n"
    if not fence.is_user:  # who may not open the pipe of the test again
        assert '"event":"start"' in fence.shell("--audit", "/dev/stdout", script="true").out


def test_nor_is_an_older_one_read_through_a_link(root_fence):
    secret = root_fence.folder / "secret"
    secret.write_text("")  # what a new log could go on from
    (root_fence.folder / "audit.jsonl.1").symlink_to(secret)
    done = root_fence.shell("--audit", root_fence.folder / "audit.jsonl", script="echo ran")
    assert done.code == 125 and "audit.jsonl.1" in done.err and done.out == "", done


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_link_that_comes_and_goes_is_never_followed(root_fence):
    """The owner of the directory swaps the log for a link while root opens it."""
    log, victim = root_fence.folder / "audit.jsonl", root_fence.folder / "victim"
    victim.write_text("")
    swapping = f"""
import os, sys
print("ready", flush=True)
while True:
    try:
        os.symlink({str(victim)!r}, {str(log)!r})
        os.unlink({str(log)!r})
        os.close(os.open({str(log)!r}, os.O_CREAT, 0o666))
        os.unlink({str(log)!r})
    except OSError:
        pass
"""
    import subprocess
    swapper = subprocess.Popen(["/usr/bin/python3", "-c", swapping], stdout=subprocess.PIPE)
    try:
        assert swapper.stdout.readline() == b"ready\n"
        for _ in range(20):
            root_fence.shell("--audit", log, config="", script="true")
            assert victim.read_text() == ""
    finally:
        swapper.kill()
        swapper.wait()
