"""stile-web in a real browser: log in, see a decision, stop an agent.

`make web-test` installs the browser and sets STILE_BROWSER; `make test` does without both. With
STILE_SCREENSHOTS=FOLDER it also makes the pictures of docs/web.md.
"""

import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest
from harness.origin import echo
from harness.wait import until
from harness.web import StileWeb

if not os.environ.get("STILE_BROWSER"):
    pytest.skip("only in `make web-test`, which installs a browser", allow_module_level=True)
webdriver = pytest.importorskip("selenium.webdriver", reason="python3-selenium is not installed: make web-test")
if not shutil.which("chromium") or not shutil.which("chromedriver"):
    pytest.skip("chromium and chromium-driver are not installed: make web-test", allow_module_level=True)

from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

@pytest.fixture
def proxy(world):
    world.tcp_origin("a.test", handler=echo)
    world.http_origin("web.test")
    world.agent("alpha", allow=["a.test", "web.test", ".wheels.test"], deny=["telemetry.test"], bytes_up="64KiB")
    world.agent("beta", allow=["web.test"], mode="observe")
    return world.start()


@pytest.fixture
def web(world, proxy):
    return StileWeb(world, proxy)


@pytest.fixture
def driver(world):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update", "--disable-sync",
                     "--window-size=1280,900", f"--user-data-dir={world.folder}/chromium"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(service=Service(shutil.which("chromedriver"), env={**os.environ, "NO_PROXY": "*"}),
                            options=options)
    made.set_page_load_timeout(40)
    yield made
    problems = [entry for entry in made.get_log("browser")
                if entry["level"] == "SEVERE" and "401" not in entry["message"]]
    made.quit()
    assert not problems, problems


def screenshot(driver, name):
    folder = os.environ.get("STILE_SCREENSHOTS")
    if folder:
        driver.save_screenshot(str(Path(folder) / f"web-{name}.png"))


def dark(driver, is_dark):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]})


def text(driver):
    return driver.find_element(By.TAG_NAME, "body").text


def shows(driver, *words):
    try:
        until(lambda: all(word in text(driver) for word in words), 20, f"{words} on the page")
    except AssertionError:
        print(text(driver))
        raise


PRESS = """
const name = arguments[0];
const found = [...document.querySelectorAll('button')].find((one) => one.offsetParent && !one.disabled
  && (one.getAttribute('aria-label') ?? one.textContent) === name);
found?.click();
return found !== undefined;
"""


def press(driver, name):
    """The button of that name, as a screen reader names it."""
    until(lambda: driver.execute_script(PRESS, name), 20, f"a button {name}")


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
    press(driver, "Allow pypi.example for 1 hour")
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
    for number in range(1500):
        client.get(f"http://web.test:{world.http_port}/{number}")
    rows = "return Number(document.querySelector('.lines').getAttribute('aria-rowcount'))"
    # A slow browser leaves some out.
    until(lambda: driver.execute_script(rows) >= 1000, 30, "a thousand lines")
    assert len(driver.find_elements(By.CSS_SELECTOR, ".line")) < 80
    # What somebody reads does not move.
    driver.execute_script("document.querySelector('.lines').scrollTop = 10000")
    place = "const l = document.querySelector('.lines'); return [l.scrollTop, l.getAttribute('aria-rowcount')]"
    before = driver.execute_script(place)
    client.get(f"http://web.test:{world.http_port}/new")
    until(lambda: driver.execute_script(place)[1] != before[1], 20, "another line")
    assert driver.execute_script(place)[0] > before[0]


CHECKS = """
const named = (node) => (node.getAttribute('aria-label') || node.textContent || node.title || '').trim()
  || (node.labels && node.labels.length > 0);
const problems = [];
for (const node of document.querySelectorAll('button, a, input, select, meter, [role=img], [role=table]'))
  if (!named(node)) problems.push('no name: ' + node.outerHTML.slice(0, 120));
for (const node of document.querySelectorAll('img')) if (!node.hasAttribute('alt')) problems.push('no alt');
const ids = [...document.querySelectorAll('[id]')].map((node) => node.id);
if (new Set(ids).size !== ids.length) problems.push('an id twice');
for (const node of document.querySelectorAll('th')) if (!node.scope) problems.push('a th without scope');
for (const node of document.querySelectorAll('[tabindex]')) if (node.tabIndex > 0) problems.push('tabindex above 0');
if (!document.documentElement.lang || !document.title) problems.push('no language or title');
const light = (text) => { const [r, g, b] = text.match(/[\\d.]+/g).map((v) => { v /= 255;
  return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const ground = (node) => { for (let n = node; n; n = n.parentElement) { const c = getComputedStyle(n).backgroundColor;
  if (!/, 0\\)$/.test(c)) return c; } return 'rgb(255, 255, 255)'; };
for (const node of document.querySelectorAll('main *, header *, footer *')) {
  if (![...node.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim()) || !node.offsetParent || node.disabled) continue;
  const a = light(getComputedStyle(node).color), b = light(ground(node));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) problems.push(`contrast ${ratio.toFixed(1)}: ${node.outerHTML.slice(0, 120)}`);
}
return problems;
"""


def test_names_labels_and_contrast(driver, web, world, proxy):
    log_in(driver, web)
    some_traffic(world, proxy)
    shows(driver, "pypi.example")
    for place in ("#/", "#/agent/alpha", "#/host/pypi.example"):
        driver.get(f"{web.origin}/{place}")
        shows(driver, "pypi.example", "mode enforce")
        for is_dark in (False, True):
            dark(driver, is_dark)
            assert driver.execute_script(CHECKS) == [], (place, is_dark)


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
