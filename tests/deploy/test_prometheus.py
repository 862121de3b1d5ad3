"""What deploy/prometheus and deploy/grafana hold is true of a real stiled, by the word of Prometheus."""

import json
import re
import shutil
import subprocess
import urllib.parse
from pathlib import Path

import pytest
import yaml
from harness.metrics import http_get
from harness.origin import echo
from harness.wait import until

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
RULES = DEPLOY / "prometheus" / "stile.rules.yml"
RULE_TESTS = sorted((DEPLOY / "prometheus").glob("*_test.yml"))
DASHBOARD = DEPLOY / "grafana" / "stile.json"
METRIC = re.compile(r"\b(?:stile|process)_[a-z_]+")


def promtool(*arguments):
    done = subprocess.run(["promtool", *arguments], cwd=DEPLOY / "prometheus", text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout


def test_promtool_accepts_config_and_rules():
    promtool("check", "config", "prometheus.yml")
    promtool("check", "rules", "stile.rules.yml")


def test_alerts_fire_and_end_when_they_should():
    promtool("test", "rules", *(file.name for file in RULE_TESTS))


def alerts():
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return {rule["alert"] for group in groups for rule in group["rules"]}


def test_every_alert_is_seen_to_fire():
    seen = {check["alertname"] for file in RULE_TESTS
            for test in yaml.safe_load(file.read_text())["tests"]
            for check in test["alert_rule_test"] if check["exp_alerts"]}
    assert alerts() == seen


def dashboard_expressions():
    """(panel title, expression) with Grafana's variables as Grafana would fill them in."""
    dashboard = json.loads(DASHBOARD.read_text())
    found = [(panel["title"], target["expr"]) for panel in dashboard["panels"]
             for target in panel.get("targets", [])]
    found += [(note["name"], note["expr"]) for note in dashboard["annotations"]["list"]]
    filled = {"$job": "stile", "$instance": ".*", "$agent": ".*", "$__rate_interval": "30s",
              "$__range": "5m"}
    for title, expression in found:
        for name, value in filled.items():
            expression = expression.replace(name, value)
        assert "$" not in expression, f"{title}: {expression}"
        yield title, expression


@pytest.fixture
def busy(world):
    """A proxy that has let through and refused, with an agent that has a budget and a scan."""
    world.tcp_origin("o.test", handler=echo)
    world.http_origin("p.test")
    world.scans.append({"name": "word", "pattern": "looked-for"})
    world.agent("alpha", allow=["o.test", "p.test"], scan=["word"], bytes_up="1MiB", bytes_down="1MiB",
                request=[{"host": "opened.test"}],
                budget=[{"host": "opened.test", "max_requests": 9, "tokens": 9}])
    proxy = world.start()
    client = proxy.open_tunnel("o.test", world.port)
    client.recv_exactly(len(client.hello))
    proxy.connect("x.test", world.port)
    assert proxy.get(f"http://p.test:{world.http_port}/looked-for").reason == "secret-found"
    return proxy


def test_every_metric_that_is_named_exists(busy):
    exposed = busy.metrics().names()
    for file in (RULES, *RULE_TESTS, DASHBOARD):
        named = set(METRIC.findall(file.read_text()))
        assert named and named <= exposed, (file.name, named - exposed)


def test_every_metric_is_documented(busy):
    exposed = {re.sub(r"_(bucket|sum|count)$", "", name) for name in busy.metrics().names()
               if name.startswith("stile_")}
    documented = set(METRIC.findall((DEPLOY.parent / "docs" / "monitoring.md").read_text()))
    assert exposed <= documented, exposed - documented


def test_reasons_that_are_named_exist():
    known = set(re.findall(r'{Reason::\w+, "([a-z-]+)"', (DEPLOY.parent / "acl/decision.cc").read_text()))
    named = {reason for group in re.findall(r'reason=~?"([^"$]+)"', RULES.read_text())
             for reason in group.split("|")}
    assert len(known) > 20 and named and named <= known, named - known


def test_dashboard_has_its_panels_side_by_side():
    panels = json.loads(DASHBOARD.read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken = set()
    for panel in panels:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                 for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken and at["x"] + at["w"] <= 24, panel["title"]
        taken |= cells


def test_dashboard_shows_what_an_operator_asks_for():
    titles = " ".join(panel["title"] for panel in json.loads(DASHBOARD.read_text())["panels"])
    for subject in ("Requests by verdict", "Denials by agent and reason", "Tunnels", "Bytes up",
                    "Budgets", "Reloads", "Audit gaps", "Time to connect"):
        assert subject in titles


class Prometheus:
    """The real one, with the config of deploy/prometheus pointed at `target`."""

    def __init__(self, folder, address, target):
        folder.mkdir()
        shutil.copy(RULES, folder)
        config = (DEPLOY / "prometheus" / "prometheus.yml").read_text()
        assert "127.0.0.1:9128" in config and "15s" in config
        config = config.replace("127.0.0.1:9128", target).replace("15s", "1s")
        (folder / "prometheus.yml").write_text(config)
        self.address = address
        self.log = folder / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={folder}/prometheus.yml",
                 f"--storage.tsdb.path={folder}/data", f"--web.listen-address={address}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder)

    def get(self, path, **query):
        status, body, _ = http_get(self.address, f"{path}?{urllib.parse.urlencode(query)}")
        answer = json.loads(body)
        assert status == 200 and answer["status"] == "success", f"{query}: {body}"
        return answer["data"]

    def query(self, expression):
        return self.get("/api/v1/query", query=expression)["result"]

    def is_ready(self):
        assert self.process.poll() is None, self.log.read_text()
        try:
            return http_get(self.address, "/-/ready")[0] == 200
        except OSError:
            return False

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def prometheus(world, busy):
    address = f"{world.site.address(3)}:{world.site.metrics_port}"
    made = Prometheus(world.folder / "prometheus", address, busy.metrics_address)
    try:
        until(made.is_ready, 90, "Prometheus")
        yield made
    finally:
        made.close()


def test_prometheus_scrapes_and_answers(world, busy, prometheus):
    # Nothing changes while we look, so that there is no mark for a new policy; it still has to parse.
    missing = [(title, query) for title, query in dashboard_expressions() if title != "New policy"]

    def every_panel_has_data():
        # A counter that is seen for the first time has no rate yet: refusals go on while we wait.
        assert busy.connect("x.test", world.port).status == 403
        missing[:] = [(title, query) for title, query in missing if not prometheus.query(query)]
        return not missing
    try:
        until(every_panel_has_data, 45)
    except AssertionError as error:
        raise AssertionError(f"no data: {missing}\n{prometheus.log.read_text()}") from error
    for _, query in dashboard_expressions():
        prometheus.query(query)

    denied = prometheus.query('stile_requests_total{verdict="deny",reason="host-not-allowed"}')
    assert [series["metric"]["agent"] for series in denied] == ["alpha"]
    assert float(denied[0]["value"][1]) >= 1
    groups = prometheus.get("/api/v1/rules")["groups"]
    health = {rule["name"]: rule["health"] for group in groups for rule in group["rules"]}
    assert set(health) == alerts() and set(health.values()) <= {"ok", "unknown"}, health
