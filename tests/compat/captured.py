"""Captured: the same origins, from inside `stile run`, for clients that are told of no proxy."""

import json
import os
import shutil
import tempfile
from pathlib import Path

from run.fence import USER, Fence, binary_for_all

from .case import CA_VARIABLES, PATH
from .place import ALLOWED, SPEAKS_H2


class Captured:
    """What a command line is made of, as Place has it, without a proxy."""
    proxy_url = ""

    def __init__(self, place):
        self.world, self.port, self.http_port = place.world, place.port, place.http_port
        self.url, self.http_url = place.url, place.http_url
        self.folder = Path(tempfile.mkdtemp(prefix="stile-captured-"))
        self.folder.chmod(0o755)
        self._programs = Path(tempfile.mkdtemp(prefix="stile-bin-"))
        self._fence = Fence(place.world, self.folder, binary_for_all(self._programs), True)
        self.ca_file = self._fence.ca_file
        self._config = self._fence.config()
        self._runs = 0

    def run(self, command, data):
        """How it ended, all that it printed, and the audit lines."""
        self._runs += 1
        log = self.folder / f"audit-{self._runs}.jsonl"
        if os.geteuid() == 0:
            for path in [self.folder, *self.folder.rglob("*")]:
                os.chown(path, USER, USER)
        variables = [f"PATH={PATH}", "LC_ALL=C", f"HOME={self.folder}", *(f"{name}={self.ca_file}" for name in CA_VARIABLES)]
        done = self._fence.run("--no-ask", "--no-profile", "--audit", log, "--allow", ALLOWED, "--allow", SPEAKS_H2,
                               config=self._config, data=data, command=["env", "-i", *variables, *command])
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        return done.code, f"{done.out}\n{done.err}", [line for line in lines if line["event"] in ("open", "deny")]

    def close(self):
        for folder in (self.folder, self._programs):
            shutil.rmtree(folder, ignore_errors=True)
