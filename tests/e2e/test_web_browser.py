"""stile-web in a real browser: log in, see a decision, stop an agent.

`make web-test` installs the browser and sets STILE_BROWSER; `make test` does without both. With
STILE_SCREENSHOTS=FOLDER it also makes the pictures of docs/web.md.
"""

import os
import subprocess
import threading

import pytest
from harness.origin import echo
from harness.wait import until
from harness.web import StileWeb

if not os.environ.get("STILE_BROWSER"):
    pytest.skip("only in `make web-test`, which installs a browser", allow_module_level=True)

from harness.browser import By, CHECKS, Keys, accessibility_problems, dark, drive, press, screenshot, shows, text  # noqa: E402


@pytest.fixture
def proxy(world):
    world.tcp_origin("a.test", handler=echo)
    world.tcp_origin("leased.test", handler=echo)
    world.http_origin("web.test")
    world.agent("alpha", allow=["a.test", "web.test", ".wheels.test"], deny=["telemetry.test"], bytes_up="64KiB")
    world.agent("beta", allow=["web.test"], mode="observe")
    return world.start()


@pytest.fixture
def web(world, proxy):
    return StileWeb(world, proxy)


@pytest.fixture
def driver(world):
    yield from drive(world.folder)


def log_in(driver, web):
    driver.get(web.url())
    shows(driver, "Decisions", "mode enforce")


def some_traffic(world, proxy):
    client = proxy.client("alpha")
    for number in range(12):
        client.get(f"http://web.test:{world.http_port}/{number}")
    for host in ("telemetry.test", "pypi.example", "192.0.2.7"):
        proxy.connect(host, world.port)
    for host in ("collector.example", "web.test"):
        proxy.get(f"http://{host}:{world.http_port}/", "beta")
    proxy.control().do("allow", agent="alpha", hosts=["files.wheels.test"], ttl_seconds=540, reason="pip install")
    proxy.control().do("allow", agent="beta", hosts=["once.test"], max_requests=3)
    tunnel = proxy.open_tunnel("a.test", world.port)
    tunnel.recv_exactly(len(tunnel.hello))
    tunnel.send(b"x" * 50_000)
    tunnel.recv_exactly(50_000)
    return tunnel


def test_page_without_a_session_says_how_to_log_in(driver, web):
    driver.get(f"{web.origin}/#token={'0' * 64}")
    shows(driver, "Log in", "stile web", "was used or has expired")
    assert "token" not in driver.current_url
    screenshot(driver, "login")


def test_decisions_arrive_while_one_looks(driver, web, world, proxy):
    log_in(driver, web)
    assert "token" not in driver.current_url
    assert driver.get_cookie("stile-web")["httpOnly"] and driver.get_cookie("stile-web")["sameSite"] == "Strict"
    assert "stile-web" not in driver.execute_script("return document.cookie")
    some_traffic(world, proxy)
    shows(driver, "pypi.example", "host-not-allowed", "telemetry.test", "Open connections (1)", "files.wheels.test",
          "KiB down")
    screenshot(driver, "now")
    dark(driver, True)
    screenshot(driver, "now-dark")
    dark(driver, False)
    driver.set_window_size(420, 900)
    screenshot(driver, "phone")
    width = driver.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1], "the page is wider than a phone"
    driver.set_window_size(1280, 900)
    # The filter works on the server, for lines of the past too.
    field = driver.find_element(By.CSS_SELECTOR, "input[type=search]")
    driver.find_element(By.TAG_NAME, "body").send_keys("/")
    assert driver.switch_to.active_element == field
    field.send_keys("PYPI")
    until(lambda: len(driver.find_elements(By.CSS_SELECTOR, ".line")) == 1, 20, "one line")
    proxy.connect("other.example", world.port)
    proxy.connect("pypi2.example", world.port)
    until(lambda: len(driver.find_elements(By.CSS_SELECTOR, ".line")) == 2, 20, "two lines")


def test_text_of_an_agent_is_shown_as_text(driver, web, proxy, world):
    log_in(driver, web)
    name = "<b>bold</b>".replace("/", "") + "&lt;.test"
    proxy.connect(name, world.port)
    shows(driver, name)
    assert not driver.find_elements(By.CSS_SELECTOR, "main b")
    driver.execute_script("location.hash = '#/host/' + encodeURIComponent(arguments[0])", name)
    shows(driver, "Who reached it", name, "bad-request")
    assert not driver.find_elements(By.CSS_SELECTOR, "main b")


def test_agent_is_allowed_revoked_and_stopped(driver, web, world, proxy):
    log_in(driver, web)
    tunnel = some_traffic(world, proxy)
    driver.get(f"{web.origin}/#/agent/alpha")
    shows(driver, "May reach", "pypi.example", "pip install", "Budgets")
    screenshot(driver, "agent")
    field = driver.find_element(By.CSS_SELECTOR, "form input")
    field.send_keys("granted.example", Keys.ENTER)
    shows(driver, "granted.example")
    grants = proxy.control().do("agent", agent="alpha")["agent"]["grants"]
    assert [grant["hosts"] for grant in grants] == [["files.wheels.test"], ["granted.example"]]
    assert 500 < grants[1]["seconds_left"] <= 600
    press(driver, "Revoke granted.example")
    until(lambda: len(proxy.control().do("agent", agent="alpha")["agent"]["grants"]) == 1, 20, "the end of the grant")
    press(driver, "Allow 1 h: pypi.example")
    until(lambda: proxy.connect("pypi.example", world.port).reason != "host-not-allowed", 20, "the grant")
    press(driver, "Stop")
    assert tunnel.recv(1) in (b"", None)
    shows(driver, "offline")
    assert proxy.connect("a.test", world.port).reason == "offline"
    press(driver, "Enforce")
    until(lambda: proxy.connect("a.test", world.port).status == 200, 20, "the end of the stop")


def test_ask_is_answered_while_curl_is_held(driver, world):
    world.tls_origin("b.test")
    world.http_origin("web.test")
    world.agent("alpha", allow=["web.test"], unlisted="ask")
    proxy = world.start(limits={"ask_hold_ms": 60000, "drain_timeout_ms": 500})
    web = StileWeb(world, proxy)
    log_in(driver, web)
    runs = []
    held = threading.Thread(
        target=lambda: runs.append(proxy.curl(f"https://b.test:{world.port}/x", seconds=50)))
    held.start()
    refused = proxy.client("alpha")
    refused.send(f"CONNECT collector.example:{world.port} HTTP/1.1\r\n\r\n".encode())
    shows(driver, "2 requests wait for you", "alpha wants", "one request is held")
    screenshot(driver, "asks")
    for is_dark in (False, True):
        dark(driver, is_dark)
        assert driver.execute_script(CHECKS) == []
    press(driver, f"Allow: 10 minutes, alpha to b.test:{world.port}")
    held.join(55)
    assert runs[0].code == 0 and runs[0].out == b"ok", runs[0].err
    press(driver, f"Refuse, alpha to collector.example:{world.port}")
    assert refused.read_response("CONNECT").status == 403
    until(lambda: not driver.find_elements(By.CSS_SELECTOR, ".ask:not(.gone)"), 20, "no ask")
    grants = proxy.control().do("agent", agent="alpha")["agent"]["grants"]
    assert len(grants) == 1 and grants[0]["hosts"][0].startswith("b.test") and 500 < grants[0]["seconds_left"] <= 600


def test_kill_switch_stops_everything_after_two_presses(driver, web, world, proxy):
    log_in(driver, web)
    press(driver, "Stop all agents")
    assert proxy.control().do("status")["mode"] == "enforce"
    press(driver, "Cut everything now")
    shows(driver, "mode offline")
    assert proxy.connect("a.test", world.port).reason == "offline"
    press(driver, "Let agents out again")
    shows(driver, "mode enforce")


def test_thousands_of_lines_are_a_few_elements(driver, web, world, proxy):
    log_in(driver, web)
    client = proxy.client("beta")  # it has no budget
    rows = "return Number(document.querySelector('.lines').getAttribute('aria-rowcount'))"

    def a_thousand_after_more():
        for number in range(300):
            client.get(f"http://web.test:{world.http_port}/{number}")
        return driver.execute_script(rows) >= 1000
    # A slow browser leaves some out, so the number of requests that it takes is not known.
    until(a_thousand_after_more, 40, "a thousand lines")
    assert len(driver.find_elements(By.CSS_SELECTOR, ".line")) < 80
    # What somebody reads does not move.
    driver.execute_script("document.querySelector('.lines').scrollTop = 10000")
    place = "const l = document.querySelector('.lines'); return [l.scrollTop, l.getAttribute('aria-rowcount')]"
    before = driver.execute_script(place)
    client.get(f"http://web.test:{world.http_port}/new")
    until(lambda: driver.execute_script(place)[1] != before[1], 20, "another line")
    assert driver.execute_script(place)[0] > before[0]


def test_a_lease_runs_out_and_its_tunnel_closes(driver, web, world, proxy):
    log_in(driver, web)
    proxy.control().do("allow", agent="alpha", hosts=["leased.test"], ttl_seconds=6, reason="a short look")
    tunnel = proxy.open_tunnel("leased.test", world.port)
    tunnel.recv_exactly(len(tunnel.hello))
    shows(driver, "Open connections (1)", "leased.test")
    assert driver.execute_script(ENDINGS) == ["leased.test"]
    driver.get(f"{web.origin}/#/agent/alpha")
    shows(driver, "a short look", "Revoke")
    assert tunnel.recv(1) in (b"", None)  # it is closed when the time is over, not before
    shows(driver, "No grants.", "revoked")
    driver.get(f"{web.origin}/#/")
    shows(driver, "Nothing is open.", "No grant or budget ends soon.")
    assert proxy.audit.wait_one(event="close", agent="alpha")["reason"] == "revoked"


ENDINGS = """
const panel = [...document.querySelectorAll('section')].find((one) => one.querySelector('h2')?.textContent === 'Running out');
return [...panel.querySelectorAll('tbody tr')].map((row) => row.children[1].textContent).filter((text) => text.includes('leased'));
"""


def set_config(driver, before, after):
    field = driver.find_element(By.TAG_NAME, "textarea")
    until(lambda: before in field.get_property("value"), 20, "the config in the field")
    driver.execute_script("""
        const [field, before, after] = arguments;
        field.value = field.value.replace(before, after);
        field.dispatchEvent(new Event('input'));
    """, field, before, after)


def test_a_change_of_the_policy_is_checked_and_then_applied(driver, web, world, proxy):
    log_in(driver, web)
    tunnel = some_traffic(world, proxy)
    until(lambda: proxy.audit.entries(event="deny", host="pypi.example"), 20, "the log")
    driver.get(f"{web.origin}/#/policy")
    shows(driver, "config in force")
    assert "Apply now" not in text(driver)
    set_config(driver, '"a.test"', '"pypi.example"')
    press(driver, "Check")
    shows(driver, "+ pypi.example", "- a.test", "Newly refused (1)", "Newly allowed (1)",
          "Open connections that would be cut (1)")
    driver.execute_script("[...document.querySelectorAll('h2')].find((one) => one.textContent === 'Rules').scrollIntoView();"
                          "scrollBy(0, -80)")
    screenshot(driver, "policy")
    # What was changed after the check has to be checked again.
    set_config(driver, "pypi.example", "pypi.exampl")
    assert "Apply now" not in text(driver)
    set_config(driver, "pypi.exampl", "pypi.example")
    press(driver, "Check")
    press(driver, "Apply now")
    shows(driver, "alpha: allowed pypi.example", "alpha: revoked a.test")
    assert tunnel.recv(1) in (b"", None)
    assert proxy.connect("a.test", world.port).reason == "host-denied"
    assert proxy.connect("pypi.example", world.port).reason not in ("host-not-allowed", "host-denied")
    grant = proxy.control().do("agent", agent="alpha")["agent"]["grants"][-1]
    assert grant["hosts"] == ["pypi.example"] and 3500 < grant["seconds_left"] <= 3600
    set_config(driver, "pypi.example", "pypi .example")
    press(driver, "Check")
    shows(driver, "Not a valid config", "pypi .example")


def test_names_labels_and_contrast(driver, web, world, proxy):
    log_in(driver, web)
    some_traffic(world, proxy)
    shows(driver, "pypi.example")
    words = {"#/workers": "No spawner", "#/policy": "config in force"}
    found = {}
    for place in ("#/", "#/agent/alpha", "#/host/pypi.example", "#/workers", "#/policy"):
        driver.get(f"{web.origin}/{place}")
        shows(driver, words.get(place, "pypi.example"), "mode enforce")
        for is_dark in (False, True):
            dark(driver, is_dark)
            if problems := accessibility_problems(driver):
                found[place, is_dark] = problems
    assert not found, "\n".join(f"{key}: {value}" for key, value in found.items())


def test_browser_of_another_origin_can_neither_read_nor_change(driver, web, world, proxy):
    """A page of another port on the same address: the browser sends it the same cookies."""
    log_in(driver, web)
    neighbour = world.write("neighbour/index.html", "<title>neighbour</title>").parent
    server = subprocess.Popen(["/usr/bin/python3", "-m", "http.server", "--bind", web.address, "9130"], cwd=neighbour,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        def is_open():
            driver.get(f"http://{web.address}:9130/")
            return driver.title == "neighbour"
        until(lambda: _try(is_open), 20, "the neighbour")
        tried = driver.execute_async_script("""
            const [origin, done] = arguments;
            const send = (path, options) => fetch(origin + path, { credentials: 'include', ...options })
              .then((answer) => 'answered ' + answer.status, () => 'blocked');
            Promise.all([send('/api/v1/status'), send('/api/v1/mode', { method: 'POST', body: '{"mode":"offline"}' }),
              send('/api/v1/mode', { method: 'POST', mode: 'no-cors', body: '{"mode":"offline"}' })]).then(done);
        """, web.origin)
        assert tried[:2] == ["blocked", "blocked"], tried
        assert proxy.control().do("status")["mode"] == "enforce"
        driver.get_log("browser")  # the browser reports what it blocked
    finally:
        server.terminate()
        server.wait(10)


def _try(condition):
    try:
        return condition()
    except Exception:  # the server is not there yet
        return False
