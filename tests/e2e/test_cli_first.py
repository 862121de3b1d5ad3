"""stile doctor and stile init: from nothing to something that works, and what is wrong on the way."""

import grp
import json
import os
import pty
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from harness.cli import Operator, environment, stile
from harness.stiled import binary
from harness.wait import until


@pytest.fixture
def proxy(world):
    world.tls_origin("o.test")
    world.agent("alpha", allow=["o.test"])
    return world.start()


def examine(proxy, *options):
    done = Operator(proxy)("doctor", "--json", "--config", proxy.config, *options)
    answer = json.loads(done.out)
    assert done.code == (0 if answer["ok"] else 1), done
    return {check["check"]: check for check in answer["checks"] if check["state"] != "ok"}, answer


def test_doctor_finds_nothing_wrong_with_what_works(proxy):
    wrong, answer = examine(proxy)
    assert answer["ok"] and not [check for check in wrong.values() if check["state"] == "wrong"]
    looked_at = {check["check"] for check in answer["checks"]}
    assert looked_at >= {"config", "daemon", "version", "socket", "listener", "dns", "audit log", "disk",
                         "clock", "permissions", "fence"}
    assert "nothing is wrong" in Operator(proxy).does("doctor", "--config", proxy.config)


def test_doctor_without_a_daemon(proxy):
    proxy.stop()
    wrong, answer = examine(proxy)
    assert not answer["ok"] and wrong["daemon"]["next"].startswith("systemctl status stiled")


def test_doctor_waits_for_nothing_in_place_of_the_log(proxy):
    """The daemon's user can replace it, and root runs this."""
    log = proxy.settings["audit"]["path"]
    os.rename(log, log + ".kept")
    os.mkfifo(log)
    try:
        done = Operator(proxy)("doctor", "--config", proxy.config)
        assert "clock" in done.out, done
    finally:
        os.unlink(log)
        os.rename(log + ".kept", log)


def test_doctor_finds_what_refuses_everything(world):
    world.agent("alpha", allow=["o.test"])
    world.tcp_origin("o.test")
    proxy = world.start(limits={"drain_timeout_ms": 60000})
    stile_ = Operator(proxy)
    stile_.does("mode", "offline")
    wrong, _ = examine(proxy)
    assert "refused" in wrong["daemon"]["detail"]
    stile_.does(*wrong["daemon"]["next"].split()[1:])
    assert "daemon" not in examine(proxy)[0]
    with proxy.open_tunnel("o.test", world.port):
        stile_.does("drain")
        wrong, _ = examine(proxy)
        assert "draining" in wrong["daemon"]["detail"]


def test_doctor_before_the_first_start_blames_nothing_that_stiled_makes_itself(tmp_path):
    done = stile("doctor", "--json", "--socket", tmp_path / "none.sock",
                 env=environment(HOME=str(tmp_path), XDG_STATE_HOME=str(tmp_path / "state")))
    wrong = {check["check"] for check in json.loads(done.out)["checks"] if check["state"] == "wrong"}
    assert wrong <= {"daemon", "dns"}, done.out


@pytest.mark.parametrize("program, words, code, said", [
    ("stile-netns", ["crate", "x"], 2, "did you mean 'create'?"),
    ("stile-netns", [], 2, "a command is missing: create, delete"),
    ("stile-netns", ["create", "alpha", "--allow", "bad..pattern"], 2, "bad..pattern"),
    ("stile-netns", ["create", "alpha", "--ttl", "soon"], 2, "--ttl"),
    ("stile-netns", ["help"], 0, "Subcommands:"), ("stile-netns", ["version"], 0, "stile-netns "),
    ("stiled", ["help"], 0, "--config"), ("stiled", ["version"], 0, "stiled "),
    ("stile-web", ["help"], 0, "--listen"), ("stile-spawner", ["version"], 0, "stile-spawner "),
    ("stile-fleet", ["surplus"], 2, "'surplus' is one argument too many"),
    ("stile-netns", ["exec", "alpha", "--files", "all"], 2, "'all' is neither view nor host"),
    ("stile", ["run", "--files", "all", "--", "true"], 2, "'all' is neither view nor host"),
    ("stile", ["mode", "ofline"], 2, "did you mean 'offline'?"),
    ("stile", ["can", "nothing"], 1, "next: stile can"),
    ("stile", ["profile", "nothing"], 1, "next: stile profile"),
    ("stile-netns", ["create", "alpha", "--alow", "x"], 2, "unknown option '--alow'; did you mean '--allow'?"),
    ("stile-netns", ["create", "alpha", "--alow", "x"], 2, "next: stile-netns create --help"),
    ("stile-web", ["--liten", "x"], 2, "unknown option '--liten'; did you mean '--listen'?"),
    ("stile-spawner", ["-z"], 2, "unknown option '-z'"),
    ("stiled", ["--chek"], 2, "unknown option '--chek'; did you mean '--check'?"),
    ("stiled", ["--chek"], 2, "next: stiled --help")])
def test_wrong_use_of_the_other_programs(program, words, code, said):
    done = subprocess.run([binary(program), *words], env=environment(), text=True, capture_output=True, timeout=30,
                          check=False)
    assert done.returncode == code and said in done.stdout + done.stderr, done
    assert "subcommand is required" not in done.stderr


def test_check_of_the_spawner_says_that_a_config_is_fine(tmp_path):
    config = tmp_path / "spawner.toml"
    config.write_text('[templates.default]\ntask = ["true"]\n')
    done = subprocess.run([binary("stile-spawner"), "--check", "-c", config], text=True, capture_output=True,
                          timeout=30, check=False)
    assert (done.returncode, done.stdout) == (0, f"{config} is fine\n"), done


def test_commands_use_the_config_of_the_daemon(world):
    """And not the default one of this host."""
    world.agent("alpha", allow=["o.test"], deny=[])
    proxy = world.start()
    stile_ = Operator(proxy)
    assert str(proxy.config) in stile_.does("check")
    config, = [check for check in json.loads(stile_("doctor", "--json").out)["checks"] if check["check"] == "config"]
    assert str(proxy.config) in config["detail"]
    assert proxy.connect("x.test", world.port).reason == "host-not-allowed"
    assert "x.test" in stile_.does("suggest")


def test_doctor_knows_that_the_gateway_comes_with_the_first_agent(world):
    proxy = world.start(server={"listen": [f"{world.site.address(1)}:{world.site.proxy_port}", "10.213.7.1:3128", "10.214.7.1:3128"]},
                        netns={"subnet": "10.213.0.0/16", "gateway": "10.213.7.1", "capture": False})
    found = {check["detail"]: check for check in examine(proxy)[1]["checks"] if check["check"] == "listener"}
    gateway, = [check for detail, check in found.items() if detail.startswith("10.213.7.1:3128: ")]
    assert gateway["state"] == "unsure" and "with the first agent" in gateway["detail"], gateway
    other, = [check for detail, check in found.items() if detail.startswith("10.214.7.1:3128: ")]
    assert other["state"] == "unsure" and other["next"] == "ip address", other


def test_doctor_finds_a_dns_server_that_does_not_answer(world):
    dead = world.dead_address()
    proxy = world.start(dns={"servers": [f"{dead}:53"]})
    wrong, _ = examine(proxy)
    assert "does not answer" in wrong["dns"]["detail"] and wrong["dns"]["next"]


def test_doctor_finds_a_config_that_would_not_load(proxy):
    proxy.config.write_text(proxy.config.read_text() + "\n[dns]\nsevers = []\n")
    wrong, _ = examine(proxy)
    assert wrong["config"]["next"] == f"stile check {proxy.config}"


def test_doctor_finds_refused_cards(world):
    cards = world.folder / "cards"
    cards.mkdir()
    (cards / "bad.json").write_text('{"agent_id": "bad", "sorce": []}')
    wrong, _ = examine(world.start(agents={"directories": [str(cards)]}))
    assert "1 card refused" in wrong["config"]["detail"]


def test_doctor_finds_a_socket_open_to_all(proxy):
    os.chmod(proxy.settings["server"]["control"], 0o666)
    wrong, _ = examine(proxy)
    assert "every user" in wrong["socket"]["detail"]
    subprocess.run(["sh", "-c", wrong["socket"]["next"]], check=True)
    assert "socket" not in examine(proxy)[0]


def test_doctor_finds_a_log_that_everybody_may_write(proxy):
    proxy.audit.path.chmod(0o666)
    wrong, _ = examine(proxy)
    subprocess.run(["sh", "-c", wrong["permissions"]["next"]], check=True)
    assert "permissions" not in examine(proxy)[0]


def test_doctor_finds_a_log_of_the_future(proxy):
    proxy.connect("x.test", 443)
    text = proxy.audit.path.read_text()
    other = proxy.config.with_name("other.toml")
    future = proxy.config.with_name("future.jsonl")
    future.write_text(text.splitlines()[-1].replace('"ts":"20', '"ts":"21') + "\n")
    other.write_text(proxy.config.read_text().replace("audit.jsonl", "future.jsonl"))
    done = Operator(proxy)("doctor", "--config", other)
    assert done.code == 1 and "but the log has a line of 21" in done.out


def answer_questions(*arguments, answers):
    """Runs `stile init` on a terminal and types the answers."""
    master, slave = pty.openpty()
    try:
        process = subprocess.Popen([binary("stile"), "init", *map(str, arguments)], stdin=slave,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        os.write(master, "".join(answer + "\n" for answer in answers).encode())
        out, err = process.communicate(timeout=30)
        return process.returncode, out.decode(), err.decode()
    finally:
        os.close(master)
        os.close(slave)


def test_init_asks(world):
    code, out, err = answer_questions(answers=["Alpha!", "beta", "10.9.9.9", "a..test", "a.test .b.test", "",
                                               "observe"])
    assert code == 0, err
    config = tomllib.loads(out)
    assert config["agent"] == [{"id": "beta", "source": ["10.9.9.9"], "allow": ["a.test", ".b.test"]}]
    assert config["egress"]["mode"] == "observe" and config["server"]["listen"] == ["127.0.0.1:3128"]
    assert "lower-case letters" in err
    assert stile("check", world.write("first.toml", out)).code == 0


def is_installed():
    return any(group.gr_name == "stile-admin" for group in grp.getgrall())


@pytest.mark.skipif(is_installed(), reason="Stile is installed on this host")
def test_a_daemon_starts_from_the_first_config_of_a_user_without_a_package(world):
    home, programs = Path(world.short_path("home")), Path(world.short_path("programs"))
    for folder in (home, programs):
        folder.mkdir()
    for name in ("stile", "stiled"):
        shutil.copy(binary(name), programs / name)
    nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    if nobody:
        home.parent.chmod(0o755)
        os.chown(home, 65534, 65534)
    options = {"env": environment(HOME=str(home), XDG_RUNTIME_DIR=str(home)), "cwd": home, **nobody}
    listen = f"{world.site.address(1)}:{world.site.proxy_port}"
    master, slave = pty.openpty()
    os.write(master, f"alpha\n127.0.0.1\na.test\n{listen}\nenforce\n".encode())
    made = subprocess.run([programs / "stile", "init", "--write", "first.toml"], stdin=slave, text=True,
                          capture_output=True, timeout=30, check=True, **options)
    os.close(master)
    os.close(slave)
    assert "next: stile check first.toml && stiled -c first.toml\n" in made.stdout
    config = home / "first.toml"
    config.write_text(config.read_text().replace("[server]", "[server]\nmetrics = \"\""))
    with subprocess.Popen([programs / "stiled", "-c", "first.toml"], stderr=subprocess.PIPE, text=True,
                          **options) as daemon:
        def status():
            assert daemon.poll() is None, daemon.stderr.read()
            return subprocess.run([programs / "stile", "audit", "verify"], capture_output=True, text=True, check=False,
                                  timeout=30, **options).stdout
        until(lambda: "OK: 1 line in 1 file" in status(), 20, "the daemon and its log")
        daemon.terminate()
        assert daemon.wait(20) == 0


def test_init_writes_a_new_file_and_never_over_another(world):
    path = world.folder / "first.toml"
    code, out, _ = answer_questions("--write", path, answers=[""] * 5)
    assert code == 0 and f"next: stile check {path}" in out
    before = path.read_text()
    code, _, err = answer_questions("--write", path, answers=["other"] + [""] * 4)
    assert code == 1 and "already exists" in err and path.read_text() == before


def test_init_without_anybody_to_ask():
    done = stile("init")
    assert done.code == 2 and "next: stile init --audit LOG" in done.err


def test_init_from_what_was_observed(world):
    for name in ("a.test", "b.test"):
        world.tls_origin(name)
    world.agent("alpha", allow=[], mode="observe")
    proxy = world.start()
    for name in ("a.test", "b.test"):
        assert proxy.curl(f"https://{name}:{world.port}/").out == b"ok"
    proxy.stop()
    done = stile("init", "--audit", proxy.audit.path)
    assert done.code == 0, done
    entry, = tomllib.loads(done.out)["agent"]
    assert entry == {"id": "alpha", "source": [world.addresses["alpha"]],
                     "allow": [f"a.test:{world.port}", f"b.test:{world.port}"]}


def test_init_allows_neither_what_was_refused_nor_strangers(world):
    world.tls_origin("a.test")
    world.agent("alpha", allow=["a.test"])
    world.addresses["stranger"] = world.site.new_agent_address()
    proxy = world.start()
    assert proxy.curl(f"https://a.test:{world.port}/").out == b"ok"
    assert proxy.connect("evil.test", world.port).reason == "host-not-allowed"
    assert proxy.connect("strange.test", world.port, agent="stranger").reason == "unknown-agent"
    proxy.stop()
    done = stile("init", "--audit", proxy.audit.path)
    assert done.code == 0, done
    entry, = tomllib.loads(done.out)["agent"]
    assert entry["allow"] == [f"a.test:{world.port}"]
    assert "# not allowed: evil.test:" in done.out and "strange.test" not in done.out
    done = stile("suggest", "--audit", proxy.audit.path)
    assert 'id = "-"' not in done.out and "strange.test" not in done.out, done


def test_suggest_as_flags_and_as_a_card(world):
    world.tls_origin("a.test")
    world.agent("alpha", allow=[], mode="observe")
    world.agent("beta", allow=[], mode="observe")
    proxy = world.start()
    assert proxy.curl(f"https://a.test:{world.port}/").out == b"ok"
    log = ["--audit", proxy.audit.path, "--config", proxy.config]
    assert stile("suggest", *log, "--flags").out == "--allow a.test\n"
    card = stile("suggest", *log, "--card").out
    assert json.loads(card) == {"agent_id": "alpha", "allowed_hosts": ["a.test"]}
    assert Operator(proxy)("put-agent", "-", data=card).code == 1  # alpha is in the config
    assert proxy.curl(f"https://a.test:{world.port}/", agent="beta").out == b"ok"
    until(lambda: stile("suggest", *log, "--flags").code == 1, 10)
    done = stile("suggest", *log, "--flags")
    assert "several agents: alpha, beta" in done.err
    assert stile("suggest", *log, "--flags", "--agent", "beta").out == "--allow a.test\n"
