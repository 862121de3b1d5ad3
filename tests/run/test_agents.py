"""The agents that people use, from npm, in `stile run` with their profiles, against stand-ins for their APIs.

scripts/agents installs them into build/agents, which `make programs-test` does. The key is outside, a placeholder inside.
"""

import json
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from fence import USER
from harness.cli import environment
from harness.stiled import REPOSITORY
from harness.wait import until
from stand_in import DONE, Anthropic, Call, Gemini, OpenAi, OpenAiSocket

BIN = REPOSITORY / "build" / "agents" / "node_modules" / ".bin"
PLANTED = "sk-planted-by-an-attacker-0123456789"
HOME_SECRETS = {".ssh/id_ed25519": "PRIVATE-KEY-OF-THE-USER", ".aws/credentials": "AWS-KEY-OF-THE-USER",
                "projects/other/notes.txt": "NOTES-OF-ANOTHER-PROJECT"}
LOOK = """
cat {home}/.ssh/id_ed25519 ~/.aws/credentials {home}/projects/other/notes.txt > found.txt 2>&1
env > env.txt
curl -sS -m 20 -o /dev/null -H "{header}: {planted}" https://{host}/planted > curl.txt 2>&1
"""


@dataclass
class Agent:
    name: str
    host: str
    stand_in: type
    variable: str  # that people have their key in
    value: str
    header: str  # in which the key travels, and how
    format: str
    arguments: tuple
    more: tuple = ()  # hosts that it also asks, with a stand-in that knows nothing


AGENTS = [
    Agent("claude", "api.anthropic.com", Anthropic, "ANTHROPIC_API_KEY", "sk-ant-real-value-0123456789", "x-api-key", "{}",
          ("-p", "do it", "--dangerously-skip-permissions")),
    Agent("opencode", "api.anthropic.com", Anthropic, "ANTHROPIC_API_KEY", "sk-ant-real-value-0123456789", "x-api-key", "{}",
          ("run", "--model", "anthropic/claude-sonnet-4-5", "do it"), ("models.dev", "models.opencode.ai")),
    Agent("codex", "api.openai.com", OpenAi, "OPENAI_API_KEY", "sk-real-value-0123456789", "authorization", "Bearer {}",
          ("exec", "--model", "stand-in", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "do it"), ("chatgpt.com",)),
    Agent("gemini", "generativelanguage.googleapis.com", Gemini, "GEMINI_API_KEY", "AIza-real-value-0123456789",
          "x-goog-api-key", "{}", ("--yolo", "--skip-trust", "-m", "gemini-2.5-flash", "-p", "do it")),
]


@pytest.fixture(params=AGENTS, ids=lambda agent: agent.name)
def scene(request, user_fence):
    agent, fence = request.param, user_fence
    if not (BIN / agent.name).exists():
        pytest.skip(f"{agent.name} is not installed; scripts/agents installs it, with npm")
    if os.geteuid() != 0:
        pytest.skip("its API is on port 443 of a loopback address, which needs root")
    fence.agent = agent
    fence.origin = fence.world.tls_origin(agent.host, port=443)
    for host in agent.more:
        fence.world.tls_origin(host, port=443)
    for folder in (fence.world.folder, fence.world.folder.parent):
        folder.chmod(0o755)
    fence.home = fence.world.folder / "home"  # not in /tmp, where codex installs nothing
    for name, text in HOME_SECRETS.items():
        path = fence.home / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    for path in [fence.home, *fence.home.rglob("*")]:
        os.chown(path, USER, USER)
    return fence


def start(fence, calls, arguments=None, seconds=100):
    """The agent as its user starts it, with the model's calls; returns how it ended."""
    agent = fence.agent
    fence.model = agent.stand_in(calls)
    fence.model.serve(fence.origin)
    env = environment(HOME=str(fence.home), STILE_PROFILES=str(REPOSITORY / "profiles"), PATH=f"{BIN}:/usr/bin:/bin",
                      **{agent.variable: agent.value})
    config = fence.config(egress={"ports": [443], "http_ports": [], "private_exceptions": fence.world.exceptions})
    return fence.run(config=config, command=[agent.name, *(arguments or agent.arguments)], env=env, seconds=seconds)


def sent_keys(fence):
    return {value for request in fence.origin.requests for value in request.values(fence.agent.header)}


@pytest.mark.long
def test_agent_works_without_its_key_and_finds_nobody_elses(scene):
    agent, folder = scene.agent, scene.folder
    # The commands are in a file: some agents ask a person about paths outside that they see in a command.
    done = start(scene, [
        Call("write", f"{folder}/made.txt", LOOK.format(home=scene.home, header=agent.header, host=agent.host,
                                                        planted=agent.format.format(PLANTED))),
        Call("shell", text="sh made.txt; echo looked")])
    assert done.code == 0 and DONE in done.out + done.err, done
    assert f"{agent.variable} is a placeholder inside" in done.err
    # It wrote a file, and its tools ran.
    found, variables = (folder / "found.txt").read_text(), (folder / "env.txt").read_text()
    assert not [text for text in HOME_SECRETS.values() if text in found], found
    # The key is nowhere inside, and everywhere at the API; a planted one is not.
    assert agent.value not in variables + done.out + done.err
    assert f"{agent.variable}=" in variables
    assert sent_keys(scene) == {agent.format.format(agent.value)}
    assert "/planted" in scene.origin.paths(), (folder / "curl.txt").read_text()
    raw = b"".join(request.raw_head + request.raw_body for request in scene.origin.requests)
    assert PLANTED.encode() not in b"".join(request.raw_head for request in scene.origin.requests)
    assert not [text for text in HOME_SECRETS.values() if text.encode() in raw]
    assert len(scene.model.seen) >= 3


@pytest.mark.long
def test_agent_keeps_its_own_files_and_no_others(scene):
    """What its profile names of its home is written there; the rest of its home is gone with it."""
    start(scene, [Call("shell", text="echo x > ~/left-behind.txt; echo y > ~/.bashrc; echo wrote")])
    assert not (scene.home / "left-behind.txt").exists() and not (scene.home / ".bashrc").exists()
    assert (scene.home / ".ssh/id_ed25519").read_text() == HOME_SECRETS[".ssh/id_ed25519"]
    assert sent_keys(scene) == {scene.agent.format.format(scene.agent.value)}


CODEX = [agent for agent in AGENTS if agent.name == "codex"]


@pytest.mark.long
@pytest.mark.parametrize("scene", [replace(agent, stand_in=OpenAiSocket) for agent in CODEX], indirect=True, ids=["codex"])
def test_an_agent_works_over_a_websocket(scene):
    """The key is added to the upgrade; what the model and the agent say passes in both directions."""
    done = start(scene, [Call("write", f"{scene.folder}/made.txt", "made\n"), Call("shell", text="cp made.txt copied.txt")])
    assert done.code == 0 and DONE in done.out + done.err, done
    assert (scene.folder / "copied.txt").read_text() == "made\n"
    assert sent_keys(scene) == {scene.agent.format.format(scene.agent.value)}
    upgrades = [request for request in scene.origin.requests if request.value("Upgrade")]
    assert upgrades and not [request for request in scene.origin.requests if request.method == "POST"], scene.origin.paths()
    assert len(scene.model.seen) >= 3


@pytest.mark.long
@pytest.mark.parametrize("scene", CODEX, indirect=True, ids=["codex"])
def test_an_agents_own_sandbox_works_inside(scene):
    """It may write in its workspace and in /tmp only, and has no network."""
    done = start(scene, [Call("shell", text="echo x > in.txt; echo y > ~/out.txt; cat ~/out.txt > out.txt;"
                              f" curl -sS -m 5 https://{scene.agent.host}/ > net.txt 2>&1; echo tried")],
                 arguments=("exec", "--model", "stand-in", "--skip-git-repo-check", "--sandbox", "workspace-write", "do it"))
    assert done.code == 0 and DONE in done.out, done
    assert (scene.folder / "in.txt").read_text() == "x\n"
    assert (scene.folder / "out.txt").read_text() == "", done
    assert "curl:" in (scene.folder / "net.txt").read_text()


CLAUDE = [agent for agent in AGENTS if agent.name == "claude"]
SANDBOXED = {"sandbox": {"enabled": True, "failIfUnavailable": True, "autoAllowBashIfSandboxed": True,
                         "allowUnsandboxedCommands": False, "network": {"allowedDomains": ["api.anthropic.com"]}}}


@pytest.mark.long
@pytest.mark.parametrize("scene", CLAUDE, indirect=True, ids=["claude"])
def test_the_bubblewrap_of_an_agent_works_inside(scene):
    """Its commands write in the workspace only, and reach what both Claude Code and Stile let through."""
    settings = scene.home / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps(SANDBOXED))
    for path in (settings.parent, settings):
        os.chown(path, USER, USER)
    done = start(scene, [Call("shell", text="echo x > in.txt; echo y > ~/out.txt; cat ~/out.txt > out.txt;"
                              f" curl -sS -m 20 -o /dev/null https://{scene.agent.host}/from-inside > net.txt 2>&1; echo tried")],
                 arguments=("-p", "do it"))
    assert done.code == 0 and DONE in done.out, done
    assert (scene.folder / "in.txt").read_text() == "x\n", scene.model.seen[-1]["messages"]
    assert (scene.folder / "out.txt").read_text() == "", done
    assert "/from-inside" in scene.origin.paths(), (scene.folder / "net.txt").read_text()


@pytest.mark.long
@pytest.mark.parametrize("scene", [agent for agent in AGENTS if agent.name in ("claude", "codex")], indirect=True, ids=["claude", "codex"])
def test_a_refusal_reaches_the_person_with_its_cause(scene):
    """Claude Code prints what Stile answers. Codex tries again for minutes without a word, so `stile run` says it at once."""
    agent = scene.agent
    env = environment(HOME=str(scene.home), STILE_PROFILES=str(REPOSITORY / "profiles"), PATH=f"{BIN}:/usr/bin:/bin",
                      **{agent.variable: agent.value})
    config = scene.config(egress={"ports": [443], "http_ports": [], "private_exceptions": scene.world.exceptions})
    with tempfile.TemporaryFile() as said:
        process = scene.start("--deny", agent.host, config=config, command=[agent.name, *agent.arguments], env=env,
                              stdout=said, stderr=said)

        def text():
            said.seek(0)
            return said.read().decode("latin-1")
        try:
            until(lambda: f"stile: refused {agent.host}:443 (host-denied): a deny rule names it" in text(), 40, "the refusal")
            if agent.name == "claude":
                assert process.wait(60) == 1
                assert f"Stile refused {agent.host}:443 for agent run: a deny rule names it" in text()
        finally:
            process.kill()
            process.wait()
