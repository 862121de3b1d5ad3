"""Start: what it takes, what it refuses, and what it gives up before it serves."""

import os
import socket
import subprocess

import pytest
from harness.checks import assert_refusal
from harness.config import toml
from harness.stiled import binary
from harness.wait import until


def run(*arguments, **options):
    return subprocess.run([binary(), *arguments], capture_output=True, text=True, timeout=20,
                          check=False, **options)


def test_version(world):
    done = run("--version")
    assert done.returncode == 0
    assert "stile" in done.stdout and any(char.isdigit() for char in done.stdout)


def test_help_and_unknown_options():
    done = run("--help")
    assert done.returncode == 0 and "--check" in done.stdout
    assert run("--no-such-option").returncode != 0


def test_check_of_a_good_config_prints_a_summary(world):
    world.agent("alpha", allow=["o.test"])
    path = world.write("stile.toml", toml(world.settings()))
    done = run("--check", "-c", str(path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


BAD = {
    "syntax": ("[server\n", "stile.toml:1"),
    "unknown section": ("[sever]\n", "server"),
    "unknown key": ("[server]\nlisten = []\n[egress]\nprots = [443]\n", "ports"),
    "wrong type": ("[egress]\nports = \"443\"\n", "ports"),
    "bad port": ("[egress]\nports = [0]\n", "stile.toml:2"),
    "bad pattern": ("[[agent]]\nid = \"a\"\nsource = [\"127.0.0.1\"]\nallow = [\"a b\"]\n",
                    "stile.toml:4"),
    "bad regex": ("[[agent]]\nid = \"a\"\nsource = [\"127.0.0.1\"]\nallow = [\"~(\"]\n",
                  "stile.toml:4"),
    "bad id": ("[[agent]]\nid = \"A\"\nsource = [\"127.0.0.1\"]\n", "stile.toml:2"),
    "two agents with one id": ("[[agent]]\nid = \"a\"\nsource = [\"127.0.0.1\"]\n"
                               "[[agent]]\nid = \"a\"\nsource = [\"127.0.0.2\"]\n", "a"),
    "two agents with one source": ("[[agent]]\nid = \"a\"\nsource = [\"127.0.0.1\"]\n"
                                   "[[agent]]\nid = \"b\"\nsource = [\"127.0.0.1/32\"]\n",
                                   "127.0.0.1"),
    "wide loopback exception": ("[egress]\nprivate_exceptions = [\"127.0.0.0/8\"]\n",
                                "127.0.0.0/8"),
    "missing list": ("[egress]\ndeny_files = [\"/nonexistent/list\"]\n", "/nonexistent/list"),
    "unix listener without agent": ("[server]\nlisten = [\"unix:/tmp/x.sock\"]\n", "unix:"),
    "bad mode": ("[egress]\nmode = \"obey\"\n", "mode"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_config_is_told_with_its_place(world, name):
    text, told = BAD[name]
    path = world.write("stile.toml", text)
    checked = run("--check", "-c", str(path))
    assert checked.returncode == 1
    assert told in checked.stdout + checked.stderr
    started = run("-c", str(path))
    assert started.returncode == 1
    assert told in started.stderr


def test_all_errors_are_told_at_once(world):
    path = world.write("stile.toml", "[egress]\nprots = [1]\nmode = \"x\"\n[dns]\nsevers = []\n")
    done = run("--check", "-c", str(path))
    text = done.stdout + done.stderr
    assert done.returncode == 1
    assert "prots" in text and "mode" in text and "severs" in text


def test_named_config_that_is_missing_is_fatal():
    done = run("-c", "/nonexistent/stile.toml")
    assert done.returncode == 1 and "/nonexistent/stile.toml" in done.stderr


@pytest.mark.parametrize("what", ["file", "folder"])
def test_config_that_others_can_write_is_refused(world, what):
    folder = world.folder / "open"
    folder.mkdir()
    path = folder / "stile.toml"
    path.write_text(toml(world.settings()))
    (path if what == "file" else folder).chmod(0o777)
    done = run("--check", "-c", str(path))
    assert done.returncode == 1, done.stdout


def test_listener_that_is_taken_is_fatal(world):
    with socket.socket() as taken:
        taken.bind((world.site.address(1), world.site.proxy_port))
        taken.listen()
        proxy = world.proxy()
        proxy.start(wait=False)
        assert proxy.wait_exit(10) == 1
    proxy.expected_exit = {1}
    assert str(world.site.proxy_port) in proxy.log_text()


def test_several_listeners_serve_at_once(world):
    world.agent("alpha")
    listeners = [f"{world.site.address(n)}:{world.site.proxy_port}" for n in (1, 4, 5)]
    proxy = world.start(server={"listen": listeners})
    for address in listeners:
        host, port = address.split(":")
        with proxy.client(to=(host, int(port))) as client:
            assert_refusal(client.connect_to("x.test", world.port), "host-not-allowed")


def status_of(proxy):
    with open(f"/proc/{proxy.process.pid}/status", encoding="ascii") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def test_no_capability_is_left_after_the_start(world):
    proxy = world.start()
    status = status_of(proxy)
    for key in ("CapEff", "CapPrm", "CapInh", "CapAmb"):
        assert int(status[key], 16) == 0, key
    assert status["NoNewPrivs"] == "1"


def test_threads_have_given_up_their_capabilities_too(world):
    proxy = world.start(server={"workers": 2})
    for task in os.listdir(f"/proc/{proxy.process.pid}/task"):
        with open(f"/proc/{proxy.process.pid}/task/{task}/status", encoding="ascii") as file:
            assert "CapEff:\t0000000000000000" in file.read()


def daemon_of_nobody(world):
    """Not yet started; its folders belong to that user."""
    world.folder.chmod(0o755)
    world.folder.parent.chmod(0o755)
    for folder in ("state", "log"):
        (world.folder / folder).mkdir(exist_ok=True)
        os.chown(world.folder / folder, 65534, 65534)
    world.agent("alpha")
    log = world.folder / "log" / "audit.jsonl"
    proxy = world.proxy(server={"user": "nobody"}, audit={"path": str(log)})
    proxy.audit.path = log
    return proxy


@pytest.mark.skipif(os.geteuid() != 0, reason="changing the user needs root")
def test_daemon_becomes_the_configured_user(world):
    proxy = daemon_of_nobody(world)
    proxy.start()
    status = status_of(proxy)
    assert set(status["Uid"].split()) == {"65534"}
    assert status["Gid"].split()[0] != "0"
    assert status.get("Groups", "").strip() in ("", "65534")
    assert_refusal(proxy.connect("x.test", world.port), "host-not-allowed")


@pytest.mark.skipif(os.geteuid() != 0, reason="changing the user needs root")
def test_secret_that_the_configured_user_cannot_read_refuses_the_start(world):
    """It could never be read again."""
    secret = world.secret("api", "sk-value-0123456789", ["a.test"], header="X-Api-Key")
    proxy = daemon_of_nobody(world)
    proxy.start(wait=False)
    assert proxy.wait_exit() == 1
    said = proxy.log_text()
    assert f"{secret['file']}: cannot be read: Permission denied" in said and "as user nobody" in said, said
    assert "sk-value" not in said and not proxy.audit.path.exists()
    os.chown(secret["file"], 0, 65534)
    os.chmod(secret["file"], 0o640)
    proxy.start()
    assert_refusal(proxy.connect("x.test", world.port), "host-not-allowed")


@pytest.mark.skipif(os.geteuid() != 0, reason="giving a directory away needs root")
def test_state_of_another_user_refuses_the_start_and_names_the_key(world):
    """As in `sudo stiled` beside the installed service: root has no capabilities then."""
    state = world.folder / "state-of-nobody"
    state.mkdir(mode=0o700)
    os.chown(state, 65534, 65534)
    proxy = world.proxy(server={"state_dir": str(state)})
    proxy.start(wait=False)
    proxy.expected_exit = {1}
    assert proxy.wait_exit() == 1
    assert "Permission denied; it belongs to user 65534: set `user` in [server]" in proxy.log_text()


def test_no_core_dump_and_many_files(world):
    proxy = world.start()
    limits = {}
    with open(f"/proc/{proxy.process.pid}/limits", encoding="ascii") as file:
        for line in file:
            limits[line[:26].strip()] = line[26:].split()[:2]
    assert limits["Max core file size"][0] == "0"
    assert limits["Max open files"][0] == limits["Max open files"][1]


def test_readiness_and_end_are_told_to_systemd(world):
    path = world.short_path("notify.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(path)
        notify.settimeout(10)
        proxy = world.proxy()
        proxy.start(environment={"NOTIFY_SOCKET": path})
        told = [notify.recv(4096)]
        until(lambda: any(b"READY=1" in text for text in told) or told.append(notify.recv(4096)))
        proxy.stop()
        until(lambda: any(b"STOPPING=1" in text for text in told) or told.append(notify.recv(4096)))


def test_socket_passed_by_systemd_is_served(world):
    """A listener that is already open, as socket activation hands it over."""
    world.agent("alpha")
    address = (world.site.address(1), world.site.proxy_port)
    with socket.socket() as listener:
        listener.bind(address)
        listener.listen(128)
        number = listener.fileno()
        proxy = world.proxy()
        proxy.start(wrapper=["bash", "-c", f"exec 3<&{number}; export LISTEN_PID=$$ LISTEN_FDS=1; "
                                         'exec "$@"', "sh"], pass_fds=[number])
    assert_refusal(proxy.connect("x.test", world.port), "host-not-allowed")


def test_socket_of_an_agent_from_systemd_is_served_beside_the_other_listeners(world):
    world.agent("alpha")
    world.agent("pod", source=[])
    path = world.short_path("pod.sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(128)
        number = listener.fileno()
        proxy = world.proxy()
        proxy.start(wrapper=["bash", "-c", f"exec 3<&{number}; export LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=pod; "
                                         'exec "$@"', "sh"], pass_fds=[number])
    assert_refusal(proxy.connect("x.test", world.port), "host-not-allowed")
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        client.sendall(f"CONNECT x.test:{world.port} HTTP/1.1\r\n\r\n".encode())
        assert b"403 host-not-allowed" in client.recv(4096)
    assert proxy.audit.wait_one(event="deny", agent="pod")["host"] == "x.test"


def test_stale_control_socket_is_replaced(world):
    world.agent("alpha")
    proxy = world.start()
    proxy.kill()
    proxy.start()
    assert_refusal(proxy.connect("x.test", world.port), "host-not-allowed")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs namespaces of its own")
def test_without_a_config_it_serves_the_embedded_default(world):
    """In a network and mount namespace of its own, so that no port and no file is in the way."""
    script = """
        ip link set lo up
        mount -t tmpfs none /run && mkdir /run/stile
        [ -e /etc/stile ] && mount -t tmpfs none /etc/stile
        "$0" >/run/audit 2>/run/log & pid=$!
        for i in $(seq 100); do
          curl -q -s -o /dev/null http://127.0.0.1:9128/readyz && break; sleep 0.05
        done
        for host in evil.test api.github.com; do
          curl -q -s -o /dev/null -w '%{http_connect}\\n' -x http://127.0.0.1:3128 https://$host/
        done
        kill $pid; wait $pid; echo "exit $?"
        cat /run/audit
    """
    done = subprocess.run(["unshare", "-nm", "sh", "-c", script, binary()], capture_output=True,
                          text=True, timeout=30, check=False,
                          env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"})
    lines = done.stdout.splitlines()
    assert lines[:2] == ["403", "502"], done.stdout + done.stderr
    assert lines[2] == "exit 0"
    assert '"agent":"local"' in done.stdout and '"reason":"host-not-allowed"' in done.stdout
