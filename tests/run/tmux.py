"""Tmux: windows with shells, as a person has them, whose screens a test can read as they look."""

import os
import shlex
import shutil
import subprocess
import time

import pytest


class Tmux:
    """A server of its own. Every window is a shell of the user who `prefix` makes of us."""

    def __init__(self, folder, env, prefix=()):
        if not shutil.which("tmux"):
            pytest.skip("tmux is missing")
        self.folder, self.prefix = str(folder), [*prefix]
        # Its socket is in a folder of its own, which only we can enter.
        self.place = subprocess.check_output(["mktemp", "-d"], text=True).strip()
        self.env = {**env, "PS1": "prompt> ", "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        self.call("new-session", "-d", "-s", "here", "-x", "110", "-y", "36", "-c", self.folder, "-n", "agent",
                  *self.shell())
        self.call("set-option", "-g", "monitor-bell", "on")

    def shell(self):
        return [*self.prefix, "/usr/bin/bash", "--norc", "--noprofile"]

    def call(self, *words):
        done = subprocess.run(["tmux", "-S", f"{self.place}/socket", "-f", "/dev/null", *words], env=self.env,
                              capture_output=True, text=True, timeout=30, check=False, cwd=self.folder)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def open(self, window):
        """Another window, in front of the others."""
        self.call("new-window", "-t", "here", "-n", window, "-c", self.folder, *self.shell())

    def keys(self, window, *keys):
        self.call("send-keys", "-t", f"here:{window}", *keys)

    def enter(self, window, *line):
        self.call("send-keys", "-t", f"here:{window}", "-l", shlex.join(map(str, line)))
        self.keys(window, "Enter")

    def screen(self, window):
        """The lines that a person sees; a blank that does not break looks like any other."""
        seen = self.call("capture-pane", "-p", "-t", f"here:{window}").replace("\xa0", " ")
        return [line.rstrip() for line in seen.splitlines()]

    def has_rung(self, window):
        """Tmux marks a window that is not in front."""
        return self.call("display-message", "-p", "-t", f"here:{window}", "#{window_bell_flag}").strip() == "1"

    def wait(self, window, condition, what, seconds=25):
        deadline = time.monotonic() + seconds
        while not (found := condition(self.screen(window))):
            assert time.monotonic() < deadline, f"no {what} in {window}:\n" + "\n".join(self.screen(window))
            time.sleep(0.05)
        return found

    def wait_for(self, window, *texts, seconds=25):
        return self.wait(window, lambda screen: all(any(text in line for line in screen) for text in texts), texts, seconds)

    def press_until(self, window, key, text):
        """Again if nothing came of it: some programs take what follows quickly for a part of what was pasted."""
        for _ in range(5):
            self.keys(window, key)
            try:
                return self.wait_for(window, text, seconds=5)
            except AssertionError:
                continue
        return self.wait_for(window, text)

    def wait_for_bell(self, window, seconds=25):
        self.wait(window, lambda screen: self.has_rung(window), "bell", seconds)

    def close(self):
        # Not kill-server by its name: by its socket, which is ours alone.
        self.call("kill-server")
        shutil.rmtree(self.place)
