"""Plays a host with one listening unix socket, and runs `stile run` on it; prints what happened."""

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import private_host

PROBE = """
import errno, json, os, socket, sys
if len(sys.argv) > 2:
    print("ready", flush=True)
    sys.stdin.readline()
sock = socket.socket(socket.AF_UNIX)
sock.settimeout(10)
try:
    sock.connect(sys.argv[1])
    answer = sock.recv(100).decode()
except OSError as error:
    answer = errno.errorcode.get(error.errno, str(error))
print(json.dumps({"answer": answer, "environment": list(os.environ)}))
"""


class Listener:
    def __init__(self):
        self.accepted = 0

    def open(self, path):
        for folder in reversed(Path(path).parents):
            if not folder.exists():
                folder.mkdir(mode=0o755)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(path)
        os.chmod(path, 0o777)
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            conn, _ = self._socket.accept()
            self.accepted += 1
            conn.sendall(b"hello")
            conn.close()


def open_elsewhere(listener, path):
    """In a network namespace of its own, then bound to its place, as containers get theirs."""
    def serve():
        private_host.unshare(private_host.CLONE_NEWNET)  # of this thread
        listener.open("/.hidden/real.sock")
    thread = threading.Thread(target=serve)
    thread.start()
    thread.join()
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).touch()
    private_host.mount("/.hidden/real.sock", path, None, private_host.MS_BIND)
    os.chmod("/.hidden", 0o700)


def bind_in(listener, path, way):
    """In ways that leave the kernel's list of sockets without the name that leads there."""
    folder = Path(path).parent
    if way == "linked":  # as ssh does it for connections that it shares
        listener.open(path + ".temporary")
        os.link(path + ".temporary", path)
        os.unlink(path + ".temporary")
    elif way == "relative":
        os.makedirs(folder, exist_ok=True)
        os.chdir(folder)
        listener.open(Path(path).name)
        os.chdir("/")
    elif way == "renamed":
        before = folder.with_name("before")
        listener.open(str(before / Path(path).name))
        os.rename(before, folder)
    elif way == "unlisted":
        thread = threading.Thread(target=lambda: (private_host.unshare(private_host.CLONE_NEWNET),
                                                  listener.open(path)))
        thread.start()
        thread.join()


def main(setup):
    program = "/workspace/stile"
    private_host.fresh_root(setup["base"], ["/run", "/tmp", "/home", "/nix", "/opt", "/srv",
                                            "/workspace"], {program: setup["binary"]})
    user = setup["user"]
    if user:
        Path(f"/run/user/{user}").mkdir(parents=True)
        os.chown(f"/run/user/{user}", user, user)
    listener = Listener()
    path = setup["path"]
    if setup.get("is_given"):
        open_elsewhere(listener, path)
    elif setup.get("way"):
        bind_in(listener, path, setup["way"])
    elif not setup.get("is_late"):
        listener.open(path)
    drop = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--"] if user else []
    late = ["late"] if setup.get("is_late") or setup.get("is_rebound") else []
    process = subprocess.Popen(
        [*drop, program, "run", *setup["flags"], "--", "/usr/bin/python3", "-c", PROBE, path, *late],
        cwd="/workspace", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if late:
        assert process.stdout.readline() == "ready\n"
        if setup.get("is_rebound"):
            os.unlink(path)
        listener.open(path)
        process.stdin.write("go\n")
    out, _ = process.communicate(timeout=45)
    found = json.loads(out.splitlines()[-1]) if out else {}
    print(json.dumps({**found, "accepted": listener.accepted, "status": process.returncode}))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
