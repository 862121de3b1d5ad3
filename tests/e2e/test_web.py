"""stile-web: what its pages show and change, against the real daemon."""

import json
import os
import re
from pathlib import Path

import pytest
from harness.checks import measures_memory
from harness.cli import environment, stile
from harness.origin import echo
from harness.wait import until
from harness.web import StileWeb


@pytest.fixture
def proxy(world):
    world.tcp_origin("a.test", handler=echo)
    world.http_origin("web.test")
    world.agent("alpha", allow=["a.test", "web.test"], bytes_up="10MiB")
    world.agent("beta", allow=[])
    return world.start()


@pytest.fixture
def web(world, proxy):
    return StileWeb(world, proxy)


def test_stile_web_prints_a_link_that_works_once(web):
    done = stile("web", "--login", web.login_path)
    assert done.code == 0 and done.out.startswith(f"{web.origin}/#token=")
    token = done.out.strip().partition("#token=")[2]
    assert web.stranger().post("/api/v1/login", {"token": token}).status == 200
    again = web.stranger().post("/api/v1/login", {"token": token})
    assert (again.status, again.code) == (401, "bad-token")
    assert json.loads(stile("web", "--json", env=environment(STILE_WEB_SOCKET=web.login_path)).out)["ok"]


def test_stile_web_says_how_to_start_the_page(world):
    done = stile("web", "--login", world.short_path("nothing.sock"))
    assert done.code == 3 and "stile-web does not run" in done.err and "systemctl" in done.err


def test_page_and_its_files_are_served_without_a_session(web):
    for path, kind in [("/", "text/html"), ("/style.css", "text/css"), ("/main.js", "text/javascript"),
                       ("/icon.svg", "image/svg+xml")]:
        reply = web.stranger().get(path, Origin=None)
        assert reply.status == 200 and reply.headers["content-type"].startswith(kind)
        assert reply.body == (Path(__file__).parents[2] / "web/pages" / (path[1:] or "index.html")).read_bytes()
    head = web.stranger().request("HEAD", "/", Origin=None)
    assert (head.status, head.body) == (200, b"") and int(head.headers["content-length"]) > 100
    assert web.stranger().get("/nothing").code == "not-found"
    assert web.stranger().post("/").code == "wrong-method"


def test_pages_need_nothing_from_elsewhere():
    pages = Path(__file__).parents[2] / "web/pages"
    for file in pages.iterdir():
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"://\w", text), file
        for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", " style="):
            assert word not in text, (file, word)


def test_decisions_arrive_as_they_are_made(web, proxy, world):
    with web.browser().events() as events:
        assert events.wait("status")["connected"]
        events.wait("lines")
        proxy.connect("refused.test", world.port, "beta")
        line = events.wait_line(event="deny", host="refused.test")
        assert (line["agent"], line["reason"]) == ("beta", "host-not-allowed")
        client = proxy.open_tunnel("a.test", world.port)
        assert events.wait_line(event="open")["host"] == "a.test"
        found = events.wait("connections", lambda value: value["total"] == 1)["connections"][0]
        assert (found["agent"], found["host"]) == ("alpha", "a.test")
        client.close()
        events.wait("connections", lambda value: value["total"] == 0)
        last = events.wait("strip", lambda minutes: sum(m["bytes_up"] for m in minutes) > 0)
        assert sum(m["allowed"] for m in last) == 1 and sum(m["denied"] for m in last) == 1


def test_a_page_that_opens_later_sees_the_last_lines_it_asks_for(web, proxy, world):
    for host in ("one.test", "two.test", "xone.test"):
        proxy.connect(host, world.port, "beta")
    proxy.connect("one.test", world.port)
    browser = web.browser()
    until(lambda: browser.get("/api/v1/hosts?host=one.test").json["total"] == 2, 10, "the lines")

    def hosts(query):
        with browser.events(query) as events:
            return [(line["agent"], line["host"]) for line in events.wait("lines")["lines"] if "host" in line]
    assert hosts("agent=beta&verdict=deny&host=ONE") == [("beta", "one.test"), ("beta", "xone.test")]
    assert hosts("host=one.test&whole=1") == [("beta", "one.test"), ("alpha", "one.test")]
    assert hosts("verdict=allow") == []


def test_host_and_agent_pages_count(web, proxy, world):
    proxy.connect("b.test", world.port, "beta")
    proxy.connect("b.test", world.port, "alpha")
    with web.browser().events("show_agent=beta") as events:
        rows = events.wait("hosts", lambda value: value["total"] == 1)["hosts"]
        assert (rows[0]["host"], rows[0]["denied"], rows[0]["reason"]) == ("b.test", 1, "host-not-allowed")
        assert events.wait("agent")["agent"]["id"] == "beta"
    with web.browser().events("show_host=b.test") as events:
        rows = events.wait("hosts", lambda value: value["total"] == 2)["hosts"]
        assert {row["agent"] for row in rows} == {"alpha", "beta"}


def test_allow_revoke_and_kill_switch(web, proxy, world):
    browser = web.browser()
    granted = browser.post("/api/v1/policy/beta/allow", {"hosts": ["a.test"], "ttl_seconds": 60}).json
    assert granted["ok"], granted
    client = proxy.open_tunnel("a.test", world.port, "beta")
    client.recv_exactly(len(client.hello))
    assert browser.post("/api/v1/policy/beta/mode", {"mode": "offline"}).json["ok"]
    proxy.audit.wait_one(event="close", agent="beta", reason="revoked")
    assert proxy.connect("a.test", world.port, "beta").reason == "offline"
    assert browser.post("/api/v1/policy/beta/mode", {"mode": "enforce"}).json["ok"]
    assert browser.post("/api/v1/policy/beta/revoke", {"grant": granted["grant"]}).json["ok"]
    assert proxy.connect("a.test", world.port, "beta").reason == "host-not-allowed"
    assert browser.post("/api/v1/mode", {"mode": "offline"}).json["ok"]
    assert proxy.connect("a.test", world.port).reason == "offline"
    assert browser.get("/api/v1/status").json["mode"] == "offline"


def test_answers_of_the_daemon_are_passed_on(web):
    browser = web.browser()
    assert [one["id"] for one in browser.get("/api/v1/policy").json["agents"]] == ["alpha", "beta"]
    assert browser.get("/api/v1/policy/alpha").json["agent"]["policy"]["allow"] == ["a.test", "web.test"]
    assert browser.get("/api/v1/policy/nobody").code == "unknown-agent"
    told = browser.post("/api/v1/policy/beta/explain", {"url": "https://a.test/"}).json
    assert (told["verdict"], told["reason"]) == ("deny", "port-not-allowed")
    assert browser.post("/api/v1/policy/beta/allow", {"host": "a.test"}).code == "bad-request"


def test_ask_is_shown_and_answered_while_the_request_is_held(world):
    world.tcp_origin("b.test", handler=echo)
    world.agent("alpha", allow=[], unlisted="ask")
    proxy = world.start(limits={"ask_hold_ms": 60000, "drain_timeout_ms": 500})
    browser = StileWeb(world, proxy).browser()
    with browser.events() as events:
        assert events.wait("asks", lambda value: value["available"])["asks"] == []
        client = proxy.client("alpha")
        client.send(f"CONNECT b.test:{world.port} HTTP/1.1\r\n\r\n".encode())
        ask = events.wait("asks", lambda value: value["asks"])["asks"][0]
        assert (ask["agent"], ask["host"], ask["held"]) == ("alpha", "b.test", 1)
        assert browser.post(f"/api/v1/asks/{ask['id']}/answer", {"verdict": "maybe"}).code == "bad-request"
        assert browser.post(f"/api/v1/asks/{ask['id']}/answer", {"verdict": "allow", "ttl_seconds": 60}).json["ok"]
        assert client.read_response("CONNECT").status == 200
        events.wait("asks", lambda value: not value["asks"])


def test_page_outlives_the_daemon(web, proxy, world):
    browser = web.browser()
    with browser.events() as events:
        events.wait("status", lambda value: value["connected"])
        proxy.stop()
        events.wait("status", lambda value: not value["connected"])
        assert browser.get("/api/v1/status").code == "no-daemon"
        proxy.start()
        events.wait("status", lambda value: value["connected"])

        def refused_line():
            proxy.connect("later.test", world.port, "beta")
            return "later.test" in json.dumps(browser.get("/api/v1/hosts").json)
        until(refused_line, 20, "lines of the new daemon")


def test_unix_socket_serves_the_same_page(world, proxy):
    path = world.short_path("page.sock")
    web = StileWeb(world, proxy, "--origin", "https://stile.example", listen=f"unix:{path}")
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert web.url().startswith("https://stile.example/#token=")
    web.authority, web.origin = "stile.example", "https://stile.example"
    reply = web.stranger().post("/api/v1/login", {"token": web.token()})
    assert "; Secure" in reply.headers["set-cookie"]
    web.authority, web.origin = "localhost", "http://localhost"
    assert web.browser().get("/api/v1/status").json["ok"]


def test_only_loopback_is_served(world, proxy):
    with pytest.raises(AssertionError, match="not a loopback address"):
        StileWeb(world, proxy, listen="192.0.2.1:9129")
    world._closing.pop()


def status_of(web):
    lines = Path(f"/proc/{web.process.pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def test_process_has_no_rights_left(web):
    status = status_of(web)
    for key in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(status[key], 16) == 0
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    assert len(os.listdir(f"/proc/{web.process.pid}/task")) == 1


@measures_memory
def test_burst_of_decisions_stays_bounded(web, proxy, world):
    """The page gets the newest lines, and the memory stays small."""
    with web.browser().events() as events:
        events.wait("lines")
        client = proxy.client("alpha")
        for number in range(500):
            answer = client.get(f"http://web.test:{world.http_port}/{number}/{'x' * 900}")
            assert answer.status == 200
        client.get(f"http://web.test:{world.http_port}/last")
        assert events.wait_line(path="/last")
    if "libasan" not in Path(f"/proc/{web.process.pid}/maps").read_text():
        assert int(status_of(web)["VmRSS"].split()[0]) < 30 * 1024
