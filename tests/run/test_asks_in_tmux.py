"""stile run with a full-screen program inside, in tmux: the question reaches the person, the answer the request, and the
screen is what the program drew."""

import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from fence import USER
from harness.cli import environment
from harness.http_origin import response
from harness.origin import echo
from harness.stiled import REPOSITORY
from stand_in import DONE, Anthropic, Call
from test_asks_on_terminal import ASK
from tmux import Tmux

BIN = REPOSITORY / "build" / "agents" / "node_modules" / ".bin"

# Draws the whole screen, as editors and agents do. "g" asks for a host, and the answer is shown in its place; "q" leaves.
FULL_SCREEN = """
import curses, subprocess, sys
asked = None
def main(screen):
    global asked
    curses.curs_set(0)
    screen.border()
    height, width = screen.getmaxyx()
    for row in range(1, height - 1):
        screen.addstr(row, 1, ("row %02d " % row * width)[:width - 2])
    screen.timeout(50)
    state = "waiting   "
    while True:
        screen.addstr(2, 1, state)
        screen.refresh()
        key = screen.getch()
        if key == ord("q"):
            return
        if key == ord("g"):
            asked = subprocess.Popen([sys.executable, "-c", *sys.argv[1:], "1"], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, text=True)
            state = "asking    "
        if asked and asked.poll() is not None:
            state = asked.stdout.read().strip() or state
curses.wrapper(main)
if asked.poll() is None:
    print("left with", asked.communicate()[0].strip())
"""


class Desk:
    """A person at tmux: one window for the agent, another one to answer in."""

    def __init__(self, fence, **env):
        self.fence = fence
        self.runtime = Path(tempfile.mkdtemp(prefix="stile-xdg-"))
        if os.geteuid() == 0:
            os.chown(self.runtime, USER, USER)
        self.tmux = Tmux(fence.folder, environment(XDG_RUNTIME_DIR=str(self.runtime), **env), fence.drop())

    def start(self, *command, config=None):
        self.tmux.enter("agent", self.fence.binary, "run", "--config", config or self.fence.config(), "--", *command)

    def look_away(self):
        """Opens the other window. By its socket: another daemon of this machine is not meant."""
        socket = next((self.runtime / "stile").glob("run-*.sock"))
        self.tmux.open("other")
        self.tmux.enter("other", "export", f"STILE_SOCKET={socket}")

    def answer(self, host, *how):
        """Reads `stile asks` and types what it says for that host; an agent may ask for others on its own."""
        self.tmux.call("send-keys", "-t", "here:other", "-l",
                       f"until {self.fence.binary} asks | grep -q {host}; do sleep 0.2; done; {self.fence.binary} asks")
        self.tmux.keys("other", "Enter")
        self.tmux.wait_for("other", f" {host} ", "next: stile approve")
        ask = next(line.split()[0] for line in self.tmux.screen("other") if f" {host} " in line)
        self.tmux.enter("other", self.fence.binary, "approve", ask, *how)
        self.tmux.wait_for("other", "may reach")

    def close(self):
        self.tmux.close()
        shutil.rmtree(self.runtime)


@pytest.fixture
def desk(user_fence):
    user_fence.world.tcp_origin("b.test", handler=echo)
    made = Desk(user_fence)
    yield made
    made.close()


def start_and_ask(desk):
    """The screen of a program that draws, and whose request is held."""
    desk.start("/usr/bin/python3", "-c", FULL_SCREEN, ASK, f"b.test:{desk.fence.world.port}")
    desk.tmux.wait_for("agent", "waiting", "row 34")
    drawn = desk.tmux.screen("agent")
    desk.look_away()
    desk.tmux.keys("agent", "g")
    desk.tmux.wait_for_bell("agent")
    desk.tmux.wait_for("agent", "asking")
    assert desk.tmux.screen("agent") == [line.replace("waiting   ", "asking    ") for line in drawn]
    return drawn


def test_a_full_screen_program_is_left_whole_while_its_request_is_asked_about(desk):
    drawn = start_and_ask(desk)
    desk.answer(f"b.test:{desk.fence.world.port}")
    desk.tmux.wait_for("agent", "status 200")
    assert desk.tmux.screen("agent") == [line.replace("waiting   ", "status 200") for line in drawn]
    desk.tmux.keys("agent", "q")
    desk.tmux.wait_for("agent", "0 refused", "prompt>")
    # It was answered, so there is nothing to type any more.
    assert not [line for line in desk.tmux.screen("agent") if "stile approve" in line]


def test_a_question_that_waits_is_put_when_the_program_leaves_the_screen(desk):
    start_and_ask(desk)
    desk.tmux.keys("agent", "q")
    desk.tmux.wait_for("agent", "the command asks for b.test", "allow it?")
    desk.tmux.enter("agent", "once")
    desk.tmux.wait_for("agent", "left with status 200", "prompt>")


@pytest.fixture(params=["claude", "opencode"])
def agent(request, user_fence):
    """An agent of npm with its whole screen, whose model wants one command run."""
    if not (BIN / request.param).exists():
        pytest.skip(f"{request.param} is not installed; scripts/agents installs it, with npm")
    if os.geteuid() != 0:
        pytest.skip("its API is on port 443 of a loopback address, which needs root")
    fence = user_fence
    for folder in (fence.world.folder, fence.world.folder.parent):
        folder.chmod(0o755)
    fence.home = fence.world.folder / "home"
    fence.home.mkdir()
    # As after its first start, which wants a login.
    (fence.home / ".claude.json").write_text(json.dumps({"hasCompletedOnboarding": True, "theme": "dark"}))
    for path in (fence.home, fence.home / ".claude.json"):
        os.chown(path, USER, USER)
    fence.api = fence.world.tls_origin("api.anthropic.com", port=443)
    for host in ("models.dev", "models.opencode.ai"):
        fence.world.tls_origin(host, port=443)
    fence.files = fence.world.tls_origin("a.test", port=443)
    fence.files.default = lambda exchange: exchange.send(response(b"the-file-was-fetched"))
    fence.model = Anthropic([Call("shell", text=f"curl -sS -m 60 --cacert {fence.ca_file} https://a.test/wheel")])
    fence.model.serve(fence.api)
    desk = Desk(fence, HOME=str(fence.home), STILE_PROFILES=str(REPOSITORY / "profiles"), PATH=f"{BIN}:/usr/bin:/bin",
                ANTHROPIC_API_KEY="sk-ant-real-value-0123456789")
    desk.name = request.param
    yield desk
    desk.close()


START_SECONDS = 90  # an agent needs up to half a minute of a busy processor before it draws


def reach_claude(tmux):
    tmux.wait_for("agent", "Yes, I trust this folder", seconds=START_SECONDS)
    tmux.keys("agent", "Enter")
    tmux.wait_for("agent", "Do you want to use this API key?")
    tmux.keys("agent", "Up")
    tmux.wait_for("agent", "❯ 1. Yes")
    tmux.keys("agent", "Enter")
    tmux.wait_for("agent", "? for shortcuts")
    tmux.keys("agent", "-l", "do it")
    tmux.wait_for("agent", "❯ do it")
    tmux.press_until("agent", "Enter", "Do you want to proceed?")
    tmux.press_until("agent", "Enter", "Running")


def reach_opencode(tmux):
    tmux.wait_for("agent", "ctrl+p commands", seconds=START_SECONDS)
    tmux.keys("agent", "-l", "do it")
    tmux.wait_for("agent", "┃  do it")
    tmux.press_until("agent", "Enter", "https://a.test/wheel")


REACH = {"claude": (reach_claude, [], "? for shortcuts"),
         "opencode": (reach_opencode, ["--model", "anthropic/claude-sonnet-4-5"], "ctrl+p commands")}


@pytest.mark.long
def test_an_agent_waits_for_a_person_in_another_window(agent):
    """Its shell command asks for a host that no flag allows."""
    reach, flags, footer = REACH[agent.name]
    fence, tmux = agent.fence, agent.tmux
    agent.start(agent.name, *flags, config=fence.config(egress={"ports": [443], "http_ports": [],
                                                                "private_exceptions": fence.world.exceptions}))
    reach(tmux)

    def notices():
        return [line for line in tmux.screen("agent") if "stile:" in line]
    before = notices()
    agent.look_away()
    agent.answer("a.test:443")
    tmux.wait_for("agent", "the-file-was-fetched", DONE, footer)
    assert tmux.has_rung("agent")
    assert notices() == before  # nothing was written over what it drew
    assert [request.target for request in fence.files.requests] == ["/wheel"]
    tmux.keys("agent", "C-c")
    if agent.name == "claude":  # twice, and it says so
        tmux.wait_for("agent", "again to exit")
        tmux.keys("agent", "C-c")
    tmux.wait("agent", lambda screen: [line for line in screen if line][-1].startswith("prompt>"), "prompt")
