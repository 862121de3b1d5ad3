"""The official suite of the protocol, in both eras. Scenarios that do not apply are listed in docs/mcp.md."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from harness.cli import environment
from harness.forwarder import Forwarder
from harness.mcp import SESSION, STATELESS, HttpServer
from harness.npm_programs import SUITE, installed
from harness.stiled import binary, build_folder

DOCS = Path(__file__).resolve().parents[2] / "docs/mcp.md"
TOKEN = "0123456789abcdef0123456789abcdef"
# What the product itself answers, without tools of the suite.
WITHOUT_TOOLS = [(SESSION, name) for name in
                 ("server-initialize", "ping", "tools-list", "dns-rebinding-protection", "server-sse-multiple-streams",
                  "server-session-lifecycle")] + \
                [(STATELESS, name) for name in
                 ("tools-list", "dns-rebinding-protection", "server-sse-multiple-streams", "http-header-validation",
                  "input-required-result-unsupported-methods")]
# Not in the required set of their revision, but the server has what they test.
MORE = {SESSION: ["server-session-lifecycle", "json-schema-2020-12"],
        STATELESS: ["json-schema-2020-12", "http-header-validation"]}
GOOD = {"SUCCESS", "INFO", "SKIPPED"}


def not_applicable():
    table = DOCS.read_text().split("<!-- not-applicable -->")[1].split("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall("`([^`]+)`", row)}


@pytest.fixture(scope="module")
def suite():
    modules = installed(SUITE)

    def run(url, folder, *words):
        command = [modules / "node/bin/node", modules / "@modelcontextprotocol/conformance/dist/index.js", "server",
                   "--url", url, "--output-dir", folder, "--timeout", "20000", *words]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=170)
        found = {}
        for path in Path(folder).glob("**/checks.json"):
            name = re.sub(r"^server-|-\d{4}-\d\d-\d\dT.*$", "", str(path.parent.relative_to(folder)))
            found[name] = json.loads(path.read_text())
        assert found, done.stdout[-2000:] + done.stderr[-2000:]
        return found
    return run


def problems_of(checks):
    return [f"{check['id']}: {check['status']} {check.get('errorMessage')}"
            for check in checks if check["status"] not in GOOD]


@pytest.mark.parametrize("revision", [SESSION, STATELESS])
def test_every_scenario_that_applies_passes(suite, tmp_path, revision):
    with HttpServer([build_folder() / "tests/mcp/mcp_conformance_server", TOKEN]) as server, \
            Forwarder(server.host, TOKEN) as forwarder:
        found = suite(forwarder.url, tmp_path / "required", "--requirements", revision)
        for name in MORE[revision]:
            found |= suite(forwarder.url, tmp_path / name, "--scenario", name, "--spec-version", revision)
    left_out = not_applicable()
    failed = {name: problems for name, checks in found.items()
              if name not in left_out and (problems := problems_of(checks))}
    assert not failed, json.dumps(failed, indent=1)
    # A scenario stays in the list only as long as it fails.
    assert not {name for name in left_out & set(found) if not problems_of(found[name])}
    assert len(set(found) - left_out) >= {SESSION: 13, STATELESS: 22}[revision], sorted(found)
    if revision == STATELESS:
        hints = {check["id"]: check["status"] for check in found["caching"]}
        assert hints["sep-2549-tools-list-caching-hints"] == "SUCCESS"


@pytest.mark.parametrize(("revision", "scenario"), WITHOUT_TOOLS)
def test_the_product_passes(suite, tmp_path, revision, scenario):
    env = environment(STILE_MCP_TOKEN=TOKEN, STILE_SPAWNER="/nonexistent", STILE_SOCKET="/nonexistent")
    with HttpServer([binary("stile"), "mcp", "--http", "127.0.0.1:0"], env) as server, \
            Forwarder(server.host, TOKEN) as forwarder:
        found = suite(forwarder.url, tmp_path, "--scenario", scenario, "--spec-version", revision)
    assert list(found) == [scenario] and not problems_of(found[scenario]), json.dumps(found, indent=1)
