"""stile run on a terminal: the question, its answers, and a screen that is left whole."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from fence import USER
from harness.cli import environment
from harness.origin import echo
from screen import Screen

# Asks the proxy for the host of its argument and prints the status, as often as it says. A tunnel
# counts as opened once its hello has passed: the origin sends it back.
ASK = r"""
import socket, ssl, sys
host, times = sys.argv[1], int(sys.argv[2])
for _ in range(times):
    sock = socket.create_connection(("127.0.0.1", 3128))
    sock.sendall(b"CONNECT %s HTTP/1.1\r\n\r\n" % host.encode())
    status = sock.recv(4096).split(b" ")[1].decode()
    if status == "200":
        sent = ssl.MemoryBIO()
        tls = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), sent,
                                                    server_hostname=host.split(":")[0])
        try:
            tls.do_handshake()
        except ssl.SSLWantReadError:
            sock.sendall(sent.read())
        sock.recv(1)
    print("status", status, flush=True)
    sock.close()
"""

# Asks again when a file is there.
AGAIN = ASK.replace("for _ in range(times):\n", """import os, time
for number in range(times):
    while number and not os.path.exists("go"):
        time.sleep(0.02)
""")

# Asks for three names at once, then for three more.
MANY = r"""
import socket, sys
def ask(names):
    socks = [socket.create_connection(("127.0.0.1", 3128)) for _ in names]
    for sock, name in zip(socks, names):
        sock.sendall(f"CONNECT {name}.test:{sys.argv[1]} HTTP/1.1\r\n\r\n".encode())
    return [sock.recv(4096).split(b" ")[1].decode() for sock in socks]
print("statuses", *ask("cde"), *ask("fgh"), flush=True)
"""

# Asks once, from a program that draws the screen itself.
RAW = r"""
import os, socket, sys, termios, tty
before = termios.tcgetattr(2)
tty.setraw(2)
os.write(1, b"drawing\r\n")
sock = socket.create_connection(("127.0.0.1", 3128))
sock.sendall(b"CONNECT %s HTTP/1.1\r\n\r\n" % sys.argv[1].encode())
os.write(1, b"status " + sock.recv(4096).split(b" ")[1] + b"\r\n")
os.write(1, b"leaving\r\n")
termios.tcsetattr(2, termios.TCSANOW, before)
"""


# Draws a false question all the time, from two processes, while it asks.
DRAW = r"""
import os, subprocess, sys, threading
from_child = subprocess.Popen([sys.executable, "-c", "import os\nwhile True: os.write(1, b'FALSE ')"])
def draw():
    while True:
        os.write(1, b"\x1b[2Kallow good.test? FALSE ")
threading.Thread(target=draw, daemon=True).start()
""" + ASK + r"""
from_child.kill()
from_child.wait()
"""

# Changes what erases a character, and tells of the signals that it gets.
SIGNALS = r"""
import os, signal, sys, termios
settings = termios.tcgetattr(2)
settings[6][termios.VERASE] = b"o"
settings[3] &= ~termios.ECHO
termios.tcsetattr(2, termios.TCSANOW, settings)
signal.signal(signal.SIGINT, lambda *_: os.write(1, b"interrupted\n"))
""" + ASK


class Person:
    """Sits at a terminal, and has another one."""

    def __init__(self, fence):
        self.fence, self.screens = fence, []
        self.runtime = Path(tempfile.mkdtemp(prefix="stile-xdg-"))
        if os.geteuid() == 0:
            os.chown(self.runtime, USER, USER)
        self.env = environment(XDG_RUNTIME_DIR=str(self.runtime), TERM="xterm")
        fence.world.tcp_origin("b.test", handler=echo)
        self.target = f"b.test:{fence.world.port}"

    def start(self, program, *arguments, flags=(), config=None):
        line = self.fence.line(*flags, command=["/usr/bin/python3", "-c", program, *arguments],
                               config=config)
        self.screens.append(Screen(line, self.fence.folder, self.env))
        return self.screens[-1]

    def stile(self, *words):
        # By its socket: another daemon of this machine is not meant.
        env = {**self.env, "STILE_SOCKET": str(next((self.runtime / "stile").glob("run-*.sock")))}
        done = subprocess.run([*self.fence.drop(), self.fence.binary, *words], env=env,
                              capture_output=True, text=True, timeout=30, check=False,
                              stdin=subprocess.DEVNULL, cwd=self.fence.folder)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def close(self):
        for screen in self.screens:
            screen.close()
        shutil.rmtree(self.runtime)


@pytest.fixture
def person(user_fence):
    made = Person(user_fence)
    yield made
    made.close()


def test_once_is_one_request(person):
    screen = person.start(ASK, person.target, "2")
    screen.wait_for(f"asks for {person.target}".encode())
    screen.wait_for(b"allow it?")
    screen.type(b"once\n")
    screen.wait_for(b"status 200")
    screen.wait_for(b"allow it?")
    screen.type(b"no\n")
    screen.wait_for(b"status 403")
    screen.wait_for(b"ended 0 True")


def test_for_this_run_is_asked_once(person):
    screen = person.start(ASK, person.target, "2")
    screen.wait_for(b"allow it?")
    screen.type(b"run\n")
    screen.wait_for(b"status 200")
    screen.wait_for(b"status 200")
    screen.wait_for(b"ended 0 True")
    assert screen.seen.count(b"allow it?") == 1


def test_always_prints_the_flag(person):
    screen = person.start(ASK, person.target, "1")
    screen.wait_for(b"allow it?")
    screen.type(b"always\n")
    screen.wait_for(f"next time: stile run --allow {person.target}".encode())
    screen.wait_for(b"ended 0 True")


def test_everything_else_is_no(person):
    screen = person.start(ASK, person.target, "1")
    screen.wait_for(b"allow it?")
    screen.type(b"yes please\n")
    screen.wait_for(b"status 403")
    screen.wait_for(b"ended 0 True")
    # Said once to the person who decided it, and once at the end.
    before_the_end = screen.seen.split(b"stile: 1 request", 1)[0]
    assert before_the_end.count(b"stile: refused") == 1, screen.seen
    assert screen.seen.count(b"stile: refused") == 2, screen.seen


def test_never_ends_the_questions_of_this_run(person):
    """Those that wait, and those that come: a tired person would say yes in the end."""
    screen = person.start(MANY, str(person.fence.world.port))
    screen.wait_for(b"allow it?")
    screen.type(b"never\n")
    screen.wait_for(b"refused without a question")
    screen.wait_for(b"statuses 403 403 403 403 403 403")
    screen.wait_for(b"ended 0 True")
    assert screen.seen.count(b"allow it?") == 1


def processes_below(pid):
    """The ids of its children, their children and so on."""
    found = [int(child) for task in Path(f"/proc/{pid}/task").iterdir()
             for child in (task / "children").read_text().split()]
    return found + [below for child in found for below in processes_below(child)]


def states(pids):
    """The state of each thread."""
    return {(task / "stat").read_text().rpartition(")")[2].split()[0]
            for pid in pids for task in Path(f"/proc/{pid}/task").iterdir()}


def inside(screen):
    """The processes of the command: below the small shell, stile and the first process inside."""
    stile, = processes_below(screen.pid)[:1]
    first = int(Path(f"/proc/{stile}/task/{stile}/children").read_text().split()[0])
    return processes_below(first)


def test_nothing_draws_over_a_question(person):
    """The command writes on the same terminal: another name there, and a person allows the wrong one."""
    screen = person.start(DRAW, person.target, "2")
    for _ in range(2):
        screen.wait_for(f"asks for {person.target}".encode())
        screen.wait_for(b"[no]: ")
        command = inside(screen)
        assert len(command) == 2 and states(command) == {"T"}
        screen.type(b"once\n")
        screen.wait_for(b"once\r\n")
        screen.wait_for(f"stile: allowed once: {person.target}".encode())
    screen.wait_for(b"ended 0 True")
    for part in screen.seen.split(b"[no]: ")[1:]:
        assert part.startswith(b"once\r\nstile: allowed once: "), part[:200]
    assert screen.seen.count(b"status 200") == 2


def test_a_question_is_put_on_a_plain_screen(person):
    """The command may have left an escape sequence open, or hidden text, or output held back."""
    screen = person.start("print(end='\\x1b]0;', flush=True)\n" + ASK, person.target, "1")
    screen.wait_for(b"\x18\x1b\\\x1b[4i\x1b[?2026l\x1b[!p\x1b[m\x1b(B\x0f\r\n\x1b[J"
                    b"stile: the command asks for")
    screen.type(b"no\n")
    screen.wait_for(b"ended 0 True")


def test_an_interrupt_at_a_question_refuses_and_reaches_the_command(person):
    screen = person.start(SIGNALS, person.target, "1")
    screen.wait_for(b"[no]: ")
    screen.type(b"on\x03")
    screen.wait_for(f"refused: {person.target}".encode())
    screen.wait_for(b"interrupted")
    screen.wait_for(b"status 403")
    screen.wait_for(b"ended 0 True")


def test_an_answer_is_typed_with_the_settings_of_the_person(person):
    """The command must not decide what a key erases, nor hide what is typed."""
    screen = person.start(SIGNALS, person.target, "1")
    screen.wait_for(b"[no]: ")
    screen.type(b"oncx\x7fe\n")
    screen.wait_for(b"onc")
    screen.wait_for(b"allowed once")
    screen.wait_for(b"status 200")
    screen.wait_for(b"ended 0 True")


def test_a_command_that_was_continued_is_stopped_and_asked_for_again(person):
    screen = person.start(ASK, person.target, "1")
    screen.wait_for(b"[no]: ")
    screen.type(b"on")
    command = inside(screen)
    os.kill(command[0], signal.SIGCONT)
    screen.type(b"ce\n")
    screen.wait_for(b"allow it?")  # the answer was not taken
    screen.wait_for(b"[no]: ")
    assert states(command) == {"T"}
    screen.type(b"once\n")
    screen.wait_for(b"status 200")
    screen.wait_for(b"ended 0 True")


def test_after_a_stop_by_the_person_it_asks_again(person):
    screen = person.start(ASK, person.target, "1")
    screen.wait_for(b"[no]: ")
    screen.type(b"\x1a")
    screen.wait_for(b"stopped")
    screen.type(b"\n")
    # The shell continues all processes of the job: if one of them only after the question, it is put again.
    for _ in range(5):
        screen.wait_for(b"[no]: ")
        screen.type(b"once\n")
        if screen.wait_for(b"allowed once", b"the command asks") == b"allowed once":
            break
    screen.wait_for(b"status 200")
    screen.wait_for(b"ended 0 True")


def test_without_an_answer_the_command_goes_on(person):
    config = person.fence.config(limits={"ask_hold_ms": 3000})
    screen = person.start(ASK, person.target, "1", config=config)
    screen.wait_for(b"allow it?")
    screen.wait_for(b"no answer, so the request was refused")
    screen.wait_for(b"status 403")
    screen.wait_for(b"ended 0 True")
    assert b"stile approve" in screen.seen


def test_another_terminal_answers_too(person):
    screen = person.start(ASK, person.target, "1")
    screen.wait_for(b"allow it?")
    ask = person.stile("asks").splitlines()[1].split()[0]
    person.stile("approve", ask)
    screen.wait_for(b"answered elsewhere")
    screen.wait_for(b"ended 0 True")
    assert b"status 200" in screen.seen


def test_a_full_screen_program_hears_the_bell_and_is_not_drawn_over(person):
    screen = person.start(RAW, person.target)
    screen.wait_for(b"drawing")
    screen.wait_for(b"\a")
    ask = person.stile("asks").splitlines()[1].split()[0]
    person.stile("approve", ask)
    screen.wait_for(b"status 200")
    screen.wait_for(b"leaving")
    assert b"stile:" not in screen.seen.partition(b"drawing")[2].partition(b"leaving")[0]
    screen.wait_for(b"ended 0 True")


@pytest.mark.parametrize("flags", [["--no-ask"], ["--deny", "b.test"]])
def test_what_is_not_to_be_asked_is_refused_at_once(person, flags):
    screen = person.start(ASK, person.target, "1", flags=flags)
    screen.wait_for(b"status 403")
    screen.wait_for(b"ended 0 True")
    assert b"allow it?" not in screen.seen


def test_without_a_terminal_it_refuses(person):
    done = subprocess.run(
        person.fence.line(command=["/usr/bin/python3", "-c", ASK, person.target, "1"]),
        env=person.env, cwd=person.fence.folder, stdin=subprocess.DEVNULL, capture_output=True,
        timeout=40, check=True)
    assert done.stdout == b"status 403\n"
    assert b"allow it?" not in done.stderr


def test_nobody_is_asked_about_what_the_profile_expects_to_be_refused(person):
    """The agent need not wait for an answer, and what its profile does not name is asked for as ever."""
    profiles = person.fence.folder / "profiles"
    profiles.mkdir()
    (profiles / "mine.toml").write_text('about = "mine"\nharmless = [".b.test", "b.test"]\n')
    if os.geteuid() == 0:
        os.chown(profiles / "mine.toml", USER, USER)
    person.env["STILE_PROFILES"] = str(profiles)
    person.fence.world.tcp_origin("c.test", handler=echo)
    for host in (person.target, f"telemetry.{person.target}"):
        screen = person.start(ASK, host, "2", flags=("--profile", "mine"))
        screen.wait_for(b"ended 0 True")
        assert screen.seen.count(b"status 403") == 2 and b"asks for" not in screen.seen and b"\a" not in screen.seen
        assert b"2 of them expected by the profile" in screen.seen
    # A grant still allows it.
    screen = person.start(AGAIN, person.target, "2", flags=("--profile", "mine"))
    screen.wait_for(b"status 403")
    person.stile("allow", "run", person.target)
    (person.fence.folder / "go").write_text("")
    screen.wait_for(b"status 200")
    screen.wait_for(b"ended 0 True")
    screen = person.start(ASK, f"c.test:{person.fence.world.port}", "1", flags=("--profile", "mine"))
    screen.wait_for(b"allow it?")
    screen.type(b"once\n")
    screen.wait_for(b"status 200")
    screen.wait_for(b"ended 0 True")
