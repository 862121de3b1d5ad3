"""Real clients from npm, with the config of docs/mcp.md: they connect and see all tools."""

import json
import subprocess
from pathlib import Path

import pytest
from harness.cli import environment
from harness.mcp import HttpServer
from harness.npm_programs import CLAUDE, OPENCODE, installed
from harness.stand_in_api import StandInApi
from harness.stiled import binary

DOCS = Path(__file__).resolve().parents[2] / "docs/mcp.md"
TOKEN = "0123456789abcdef0123456789abcdef"
TOOLS = {"spawn_worker", "list_workers", "get_worker_status", "terminate_worker", "send_task", "read_output",
         "cancel_task", "list_files", "read_file", "explain_access", "request_access", "containment_status"}

# By itself it goes on after five seconds, and calls a server pending that connects later.
WAITS_FOR_SERVERS = {"MCP_CONNECTION_NONBLOCKING": "false", "MCP_CONNECT_TIMEOUT_MS": "40000", "MCP_TIMEOUT": "40000"}


@pytest.fixture(scope="module")
def claude_code():
    return installed(CLAUDE) / ".bin/claude"


@pytest.fixture(scope="module")
def opencode():
    return installed(OPENCODE) / ".bin/opencode"


def snippet(name):
    return json.loads(DOCS.read_text().split(f"<!-- {name} -->\n```json\n")[1].split("```")[0])


def surroundings(tmp_path, **more):
    """A home of its own, `stile` on the path, and no way out but loopback."""
    nowhere = "http://127.0.0.1:1"
    return {"PATH": f"{Path(binary('stile')).parent}:/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path), "LC_ALL": "C.UTF-8",
            "HTTPS_PROXY": nowhere, "HTTP_PROXY": nowhere, "NO_PROXY": "127.0.0.1,localhost",
            "STILE_SPAWNER": "/nonexistent", "STILE_SOCKET": "/nonexistent", **more}


def start_claude(program, tmp_path, config, api, **more):
    """What Claude Code says of itself when it starts."""
    (tmp_path / "mcp.json").write_text(json.dumps(config))
    env = surroundings(tmp_path, ANTHROPIC_API_KEY="sk-ant-stand-in", ANTHROPIC_BASE_URL=api.url, DISABLE_AUTOUPDATER="1",
                       CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", **WAITS_FOR_SERVERS, **more)
    done = subprocess.run([program, "-p", "hi", "--output-format", "stream-json", "--verbose", "--mcp-config", "mcp.json",
                           "--strict-mcp-config"], cwd=tmp_path, env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert lines, done.stdout + done.stderr
    return lines[0]


def test_claude_code_lists_the_tools(claude_code, tmp_path):
    with StandInApi(["hello"]) as api:
        said = start_claude(claude_code, tmp_path, snippet("claude"), api)
    assert said["mcp_servers"] == [{"name": "stile", "status": "connected"}]
    assert {f"mcp__stile__{name}" for name in TOOLS} <= set(said["tools"])


def test_claude_code_lists_the_tools_over_http(claude_code, tmp_path):
    with HttpServer([binary("stile"), "mcp", "--http", "127.0.0.1:0"], environment(STILE_MCP_TOKEN=TOKEN)) as server, \
            StandInApi(["hello"]) as api:
        text = json.dumps(snippet("claude-http")).replace("127.0.0.1:8129", server.host)
        said = start_claude(claude_code, tmp_path, json.loads(text), api, STILE_MCP_TOKEN=TOKEN)
    assert said["mcp_servers"] == [{"name": "stile", "status": "connected"}]
    assert {f"mcp__stile__{name}" for name in TOOLS} <= set(said["tools"])


def test_opencode_lists_the_tools(opencode, tmp_path):
    with StandInApi(["hello"]) as api:
        config = {**snippet("opencode"), "model": "stand-in/m", "provider": {"stand-in": {
            "npm": "@ai-sdk/openai-compatible", "name": "stand-in", "models": {"m": {"name": "m"}},
            "options": {"baseURL": f"{api.url}/v1", "apiKey": "x"}}}}
        (tmp_path / "opencode.json").write_text(json.dumps(config))
        env = surroundings(tmp_path, OPENCODE_DISABLE_AUTOUPDATE="1", OPENCODE_DISABLE_MODELS_FETCH="1")
        done = subprocess.run([opencode, "run", "hi"], cwd=tmp_path, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=150)
        assert "hello" in done.stdout, done.stdout + done.stderr
        assert {f"stile_{name}" for name in TOOLS} <= api.tool_names()
