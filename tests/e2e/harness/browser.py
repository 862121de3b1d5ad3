"""A real browser: Debian's chromium, driven by selenium. `make web-test` installs both."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .stiled import build_folder
from .wait import until

webdriver = pytest.importorskip("selenium.webdriver", reason="python3-selenium is not installed: make web-test")
if not shutil.which("chromium") or not shutil.which("chromedriver"):
    pytest.skip("chromium and chromium-driver are not installed: make web-test", allow_module_level=True)

from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402, F401 (for the tests)


def drive(folder):
    """Yields a browser; what it reports as an error fails the test."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update", "--disable-sync",
                     "--window-size=1280,900", f"--user-data-dir={folder}/chromium"):
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


def axe_script():
    """The checks of axe-core; None: there is no npm."""
    if not shutil.which("npm"):
        return None
    folder = build_folder() / "npm-axe"
    script = folder / "node_modules/axe-core/axe.min.js"
    if not script.exists():
        subprocess.run(["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "axe-core@4.14.0"],
                       capture_output=True, timeout=120)
    return script.read_text() if script.exists() else None


def accessibility_problems(driver):
    """What our own checks and axe-core find on the page; axe-core only where npm has it."""
    found = driver.execute_script(CHECKS)
    if script := axe_script():
        driver.execute_script(script + "; window.axe = axe;")
        answer = driver.execute_async_script("""
            const done = arguments[arguments.length - 1];
            axe.run(document, { resultTypes: ['violations'] }).then(
              (result) => done(result.violations.map((one) => `${one.id}: ${one.help}: ${one.nodes[0].html.slice(0, 150)}`)),
              (error) => done([String(error)]));
        """)
        found += answer
    return found
