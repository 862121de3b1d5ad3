"""stile run: sockets of the host that have a network of their own, each tried from inside."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from fence import USER
from harness.cli import environment

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to play the host")

HOST = str(Path(__file__).resolve().parent / "socket_host.py")
RUNTIME = f"/run/user/{USER}"

# Where the socket is, what names it in the environment, and what shows it again.
PLACES = {
    "docker": ("/run/docker.sock", {}),
    "docker, named": ("/opt/other/docker.sock", {"DOCKER_HOST": "unix:///opt/other/docker.sock"}),
    "podman": ("/run/podman/podman.sock", {}),
    "containerd": ("/run/containerd/containerd.sock", {}),
    "D-Bus, system": ("/run/dbus/system_bus_socket", {}),
    "D-Bus, session": (f"{RUNTIME}/bus",
                       {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={RUNTIME}/bus,guid=1"}),
    "D-Bus, session elsewhere": ("/opt/bus-1", {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/opt/bus-1"}),
    "runtime directory elsewhere": ("/opt/runtime/wayland-1", {"XDG_RUNTIME_DIR": "/opt/runtime"}),
    "Wayland": (f"{RUNTIME}/wayland-0", {"WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": RUNTIME}),
    "X11": ("/tmp/.X11-unix/X0", {"DISPLAY": ":0"}),
    "ssh-agent": ("/tmp/ssh-XXabcd/agent.1", {"SSH_AUTH_SOCK": "/tmp/ssh-XXabcd/agent.1"}),
    "ssh-agent at home": ("/home/u/.ssh/agent", {"SSH_AUTH_SOCK": "/home/u/.ssh/agent"}),
    "gpg-agent at home": ("/home/u/.gnupg/S.gpg-agent", {}),
    "connection that ssh shares": ("/home/u/.ssh/cm-git@host:22", {}),
    "tmux": (f"/tmp/tmux-{USER}/default", {"TMUX": f"/tmp/tmux-{USER}/default,1,0"}),
    "nix-daemon": ("/nix/var/nix/daemon-socket/socket", {"NIX_REMOTE": "daemon"}),
    "resolver": ("/run/systemd/resolve/io.systemd.Resolve", {}),
    "Stile's own": ("/run/stile/control.sock", {}),
    "any other service": ("/opt/service.sock", {}),
}


def try_it(fence, path, env, *flags, more=()):
    """What a command gets from a listener at `path`; the listener's own word counts as well."""
    with tempfile.TemporaryDirectory(prefix="stile-host-") as base:
        setup = {"base": base, "binary": fence.binary, "path": path, "flags": list(flags),
                 "user": USER if fence.is_user else 0, **dict(more)}
        done = subprocess.run(["/usr/bin/python3", "-B", HOST, json.dumps(setup)], capture_output=True,
                              text=True, timeout=50, check=False, env={**environment(), **env})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", PLACES)
def test_a_socket_outside_is_not_reached(fence, name):
    path, env = PLACES[name]
    found = try_it(fence, path, env)
    assert found["answer"] in ("ENOENT", "ECONNREFUSED") and found["accepted"] == 0, found
    assert not set(env) & set(found["environment"]) - {"TMUX"}, found


@pytest.mark.parametrize("name", ["docker", "X11", "ssh-agent", "ssh-agent at home", "nix-daemon",
                                  "any other service", "runtime directory elsewhere"])
def test_expose_shows_it_again(fence, name):
    """Which also proves that the attempts above would have been noticed."""
    path, env = PLACES[name]
    found = try_it(fence, path, env, "--expose", path)
    assert found["answer"] == "hello" and found["accepted"] == 1, found
    assert set(env) - {"NIX_REMOTE"} <= set(found["environment"]), found


@pytest.mark.parametrize("name", ["docker", "ssh-agent"])
def test_a_directory_is_exposed_with_what_is_in_it(fence, name):
    path, env = PLACES[name]
    found = try_it(fence, path, env, "--expose", str(Path(path).parent))
    assert found["answer"] == "hello", found


@pytest.mark.parametrize("name", ["link", "link/file", "below/../link/file"])
def test_a_link_that_an_earlier_command_left_is_not_followed(fence, name):
    """It could write there, and would choose what the next one is shown."""
    hidden = Path(tempfile.mkdtemp(prefix="stile-secret-"))
    try:
        hidden.chmod(0o755)
        (hidden / "file").write_text("secret")
        (fence.folder / "below").mkdir()
        (fence.folder / "link").symlink_to(hidden)
        assert fence.shell(script="cat link/file").code == 1  # hidden as long as nobody asks
        done = fence.shell("--expose", name, script=f"cat {hidden}/file")
        assert done.code == 125 and "a part of it is a link" in done.err, done
        assert done.out == ""
        shown = fence.shell("--expose", f"{hidden}/", script=f"cat {hidden}/file")
        assert shown.code == 0 and shown.out == "secret", shown
    finally:
        shutil.rmtree(hidden)


def test_a_socket_that_a_container_was_given_is_hidden_wherever_it_is(fence):
    """Bound in another network namespace, so that no list of sockets here has it."""
    found = try_it(fence, "/srv/given.sock", {}, more={"is_given": True}.items())
    assert found["answer"] in ("ENOENT", "ECONNREFUSED") and found["accepted"] == 0, found


@pytest.mark.parametrize("way", ["linked", "relative", "renamed", "unlisted"])
@pytest.mark.parametrize("path", ["/workspace/deep/down/x.sock", "/home/u/.ssh/x.sock"])
def test_a_socket_whose_name_the_kernel_does_not_list_is_not_reached(fence, path, way):
    found = try_it(fence, path, {}, more={"way": way}.items())
    assert found["answer"] in ("ENOENT", "ECONNREFUSED") and found["accepted"] == 0, found


@pytest.mark.parametrize("name", PLACES)
def test_nor_with_all_files_of_the_host(user_fence, name):
    path, env = PLACES[name]
    found = try_it(user_fence, path, env, "--files", "host")
    assert found["answer"] in ("ENOENT", "ECONNREFUSED") and found["accepted"] == 0, found


def test_nor_there_if_its_first_name_is_gone(user_fence):
    found = try_it(user_fence, "/home/u/.ssh/cm", {}, "--files", "host", more={"way": "linked"}.items())
    assert found["answer"] == "ECONNREFUSED" and found["accepted"] == 0, found


@pytest.mark.parametrize("path", ["/run/late.sock", "/tmp/late.sock", f"{RUNTIME}/late", "/home/u/late.sock",
                                  "/srv/late.sock"])
def test_a_socket_that_appears_later_is_not_seen(fence, path):
    found = try_it(fence, path, {}, more={"is_late": True}.items())
    assert found["answer"] in ("ENOENT", "ECONNREFUSED") and found["accepted"] == 0, found


@pytest.mark.parametrize("path", ["/opt/service/x.sock", "/run/x.sock", "/home/u/x.sock"])
def test_a_socket_that_its_service_binds_again_stays_hidden(fence, path):
    """Except in the working directory: see "Sockets" in docs/run.md."""
    found = try_it(fence, path, {}, more={"is_rebound": True}.items())
    assert found["answer"] in ("ENOENT", "ECONNREFUSED") and found["accepted"] == 0, found


def test_the_commands_own_sockets_work(fence):
    done = fence.python(script="""
import socket
listener = socket.socket(socket.AF_UNIX)
listener.bind("/tmp/own.sock")
listener.listen()
client = socket.socket(socket.AF_UNIX)
client.connect("/tmp/own.sock")
print("fine")
""")
    assert done.out == "fine\n"
    assert not os.path.exists("/tmp/own.sock")


@pytest.mark.parametrize("how", ["program", "directory", "far", "command"])
def test_a_program_that_an_earlier_command_left_shows_nothing_else(user_fence, how):
    """PATH often has a directory of the project: .venv/bin, node_modules/.bin. The command can put links there."""
    fence = user_fence
    secrets = Path(tempfile.mkdtemp(prefix="stile-secret-"))
    try:
        secrets.chmod(0o755)
        for name in ("bin", "lib"):  # as an installation of programs looks like
            (secrets / name).mkdir()
            (secrets / name / "file").write_text("secret")
        bin_folder = fence.folder / ".venv" / "bin"
        if how == "directory":
            bin_folder.parent.mkdir()
            bin_folder.symlink_to(secrets / "bin")
        else:
            bin_folder.mkdir(parents=True)
            (bin_folder / "tool").symlink_to(secrets / "bin" / "file")
        place = secrets / "to-the-project"
        place.symlink_to(fence.folder)
        path = {"far": place / ".venv" / "bin", "command": "/usr/bin"}.get(how, bin_folder)
        command = [str(bin_folder / "tool")] if how == "command" else ["cat", secrets / "bin" / "file", secrets / "lib" / "file"]
        done = fence.run(command=command, env=environment(PATH=f"{path}:/usr/bin:/bin"))
        assert "secret" not in done.out and done.code in (1, 127), done
        assert "an earlier command may have made the link" in done.err, done
        assert f"--read {secrets}" in done.err, done
    finally:
        shutil.rmtree(secrets)


def test_programs_of_the_project_that_lead_to_what_is_shown_anyway_run(user_fence):
    fence = user_fence
    folder = fence.folder / ".venv" / "bin"
    folder.mkdir(parents=True)
    (folder / "mine").write_text("#!/bin/sh\necho mine\n")
    (folder / "mine").chmod(0o755)
    (folder / "linked").symlink_to("mine")
    (folder / "python").symlink_to("/usr/bin/python3")
    env = environment(PATH=f"{folder}:/usr/bin:/bin")
    done = fence.run(command=["sh", "-c", "linked; python -c 'print(7)'"], env=env)
    assert (done.code, done.out) == (0, "mine\n7\n") and "not shown" not in done.err, done


def test_a_command_cannot_rename_what_tells_that_a_file_is_a_secret(user_fence):
    """`config.json` is one in .docker and nowhere else: the next command would be shown it under another directory."""
    fence = user_fence
    folder = fence.folder / "below" / ".docker"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("secret")
    for path in (folder.parent, folder, folder / "config.json"):
        os.chown(path, USER, USER)
    first = fence.shell(script="mv below/.docker below/x; mv below other; cat other/*/config.json; touch other/.docker/made && echo made")
    assert first.out == "made\n", first
    second = fence.shell(script="cat */x/config.json */.docker/config.json")
    assert "secret" not in second.out and "hidden from the command" in second.err, second


@pytest.mark.parametrize("flag, answer", [("--read", "refused"), ("--write", "refused"), ("--restrict", "refused"),
                                          ("--expose", "connected")])
def test_a_socket_that_is_named_itself_is_only_exposed(fence, flag, answer):
    """Also one that the kernel does not list here, as it was bound in another network namespace."""
    path = fence.folder / "x.sock"
    bind = "import socket, sys; s = socket.socket(1); s.bind(sys.argv[1]); s.listen(); print('up', flush=True); sys.stdin.read()"
    with subprocess.Popen(["unshare", "-n", "/usr/bin/python3", "-c", bind, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout.readline() == b"up\n"
        path.chmod(0o777)
        value = fence.write("limits.json", json.dumps({"write": ["x.sock"]})) if flag == "--restrict" else path
        done = fence.python(flag, value, script=f"""
import socket
try:
    socket.socket(socket.AF_UNIX).connect({str(path)!r})
    print("connected")
except ConnectionRefusedError:
    print("refused")""")
        server.stdin.close()
    assert done.out == answer + "\n", done
