"""Screen: a terminal with a small shell on it, as a person would have it."""

import fcntl
import os
import pty
import signal
import time

from harness.cli import environment

SHELL = """
import os, signal, subprocess, sys, termios
# A shell in small: gives its job the terminal, waits, and tells how it went.
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
def in_front():
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
job = subprocess.Popen(sys.argv[1:], preexec_fn=in_front)
while True:
    _, status = os.waitpid(job.pid, os.WUNTRACED)
    front = os.tcgetpgrp(0)
    os.tcsetpgrp(0, os.getpgrp())
    if not os.WIFSTOPPED(status):
        print("ended", os.waitstatus_to_exitcode(status), front == job.pid, flush=True)
        break
    print("stopped", flush=True)
    sys.stdin.readline()
    os.tcsetpgrp(0, job.pid)
    os.killpg(job.pid, signal.SIGCONT)
"""


class Screen:
    """A terminal with a small shell on it whose only job is a command line."""

    def __init__(self, line, folder, env=None):
        self.text = b""  # what came after the last text that was waited for
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve("/usr/bin/python3", ["python3", "-c", SHELL, *line],
                      env or environment())

    def wait_for(self, *texts, seconds=40):
        """Waits for one of them, and returns the one that came first."""
        deadline = time.monotonic() + seconds
        fcntl.fcntl(self.fd, fcntl.F_SETFL, os.O_NONBLOCK)
        while not any(text in self.text for text in texts):
            assert time.monotonic() < deadline, f"no {texts!r} in {self.text!r}"
            try:
                part = os.read(self.fd, 65536)
                self.text += part
                self.seen += part
            except BlockingIOError:
                time.sleep(0.01)
            except OSError:  # the last process of the terminal is gone
                assert any(text in self.text for text in texts), f"no {texts!r} in {self.text!r}"
        found = min((text for text in texts if text in self.text), key=self.text.index)
        self.text = self.text.partition(found)[2]
        return found

    def type(self, data):
        os.write(self.fd, data)

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)
