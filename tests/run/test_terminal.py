"""stile run on a terminal: interrupt, stop and continue, window size, and whose terminal it is."""

import fcntl
import os
import struct
import termios

import pytest
from fence import USER
from screen import Screen


@pytest.fixture
def screen(fence):
    opened = []

    def start(*command, flags=()):
        opened.append(Screen(fence.line(*flags, command=command), fence.folder))
        return opened[-1]
    yield start
    for one in opened:
        one.close()


# Waits for signals instead of handling them: a handler in Python may run a moment too late.
COUNT_INTERRUPTS = r"""
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
os.write(1, b"ready\n")
for _ in range(2):
    signal.sigwait([signal.SIGINT])
    os.write(1, b"interrupted\n")
os._exit(9)
"""


def test_an_interrupt_reaches_the_command_and_it_decides(screen):
    on = screen("/usr/bin/python3", "-c", COUNT_INTERRUPTS)
    on.wait_for(b"ready")
    on.type(b"\x03")
    on.wait_for(b"interrupted")
    on.type(b"\x03")
    on.wait_for(b"interrupted")
    on.wait_for(b"ended 9 True")


def test_an_interrupt_ends_what_does_not_handle_it(screen):
    on = screen("sh", "-c", "echo ready; exec sleep 1000")
    on.wait_for(b"ready")
    on.type(b"\x03")
    on.wait_for(b"ended 130 True")


def test_it_can_be_stopped_and_continued(screen):
    # On a busy machine a read that has begun may still get the line that is meant for the shell.
    on = screen("/usr/bin/python3", "-c", "print('ready', flush=True); print('read', input() or input())")
    on.wait_for(b"ready")
    on.type(b"\x1a")
    on.wait_for(b"stopped")
    on.type(b"\n")
    on.type(b"hello\n")
    on.wait_for(b"read hello")
    on.wait_for(b"ended 0 True")


def test_a_new_window_size_is_told(screen):
    on = screen("/usr/bin/python3", "-c", r"""
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH])
os.write(1, b"ready\n")
signal.sigwait([signal.SIGWINCH])
os.write(1, b"size %d %d\n" % os.get_terminal_size())
""")
    on.wait_for(b"ready")
    fcntl.ioctl(on.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
    on.wait_for(b"size 77 33")
    on.wait_for(b"ended 0 True")


def test_a_shell_inside_has_job_control_and_the_terminal_comes_back(screen):
    on = screen("bash", "--norc", "-i")
    on.type(b"sh -c 'echo go; exec sleep 1000'\n")
    on.wait_for(b"\ngo\r\n")
    on.type(b"\x1a")
    on.wait_for(b"Stopped")
    on.type(b"disown -a; exit 4\n")
    on.wait_for(b"ended 4 True")


def test_nothing_can_be_typed_for_the_shell_outside(screen):
    on = screen("/usr/bin/python3", "-c", r"""
import fcntl, termios
for fd in (0, 1, 2):
    try:
        fcntl.ioctl(fd, termios.TIOCSTI, b"x")
        print("TYPED")
    except OSError as error:
        print("refused", error.errno)
""")
    for _ in range(3):
        on.wait_for(b"refused 1")
    on.wait_for(b"ended 0")


def test_programs_find_their_terminal(screen):
    on = screen("/usr/bin/python3", "-c", r"""
import os
with open("/dev/tty", "w") as terminal:
    terminal.write("written\\n")
name = os.ttyname(0)
print("name", name, os.path.samestat(os.stat(name), os.fstat(0)))
main, side = os.openpty()
print("own", os.ttyname(side))
""")
    on.wait_for(b"written")
    on.wait_for(b"name /dev/console True")
    on.wait_for(b"own /dev/pts/0")
    on.wait_for(b"ended 0")


def test_other_terminals_of_the_same_user_are_out_of_reach(screen, fence):
    """Typing there would be typing in another window."""
    main, side = os.openpty()
    try:
        if fence.is_user and os.geteuid() == 0:
            os.fchown(side, USER, USER)
        os.fchmod(side, 0o622)
        on = screen("/usr/bin/python3", "-c", f"""
import glob, os
for name in [{os.ttyname(side)!r}, "/dev/pts/ptmx", *glob.glob("/dev/pts/*"), *glob.glob("/dev/tty[0-9]*"), "/dev/vcs"]:
    try:
        os.write(os.open(name, os.O_WRONLY | os.O_NOCTTY), b"typed elsewhere")
    except OSError:
        pass
print("tried")
""")
        on.wait_for(b"tried")
        on.wait_for(b"ended 0")
        os.set_blocking(main, False)
        with pytest.raises(BlockingIOError):
            os.read(main, 100)
    finally:
        os.close(main)
        os.close(side)
