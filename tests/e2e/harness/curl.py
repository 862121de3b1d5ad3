"""The real clients: curl and openssl s_client, run through the proxy as an agent."""

import os
import subprocess
from dataclasses import dataclass


@dataclass
class Run:
    code: int
    out: bytes
    err: str


@dataclass
class CurlRun(Run):
    connect_status: int  # of the proxy's answer to CONNECT
    status: int  # of the last response


def _environment():
    """Without proxy variables or personal settings of whoever runs the tests."""
    return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C", "HOME": "/nonexistent"}


def curl(proxy, source, *arguments, ca_file=None, seconds=20, data=None):
    marker = "\n%{http_connect} %{http_code}"
    command = ["curl", "-q", "-sSv", "--max-time", str(seconds), "-x", f"http://{proxy}",
               "--interface", f"host!{source}", "-w", "%{stderr}" + marker]
    if ca_file:
        command += ["--cacert", ca_file]
    done = subprocess.run(command + list(arguments), input=data, capture_output=True,
                          env=_environment(), timeout=seconds + 5, check=False)
    err = done.stderr.decode("latin-1")
    connect, status = err.rsplit("\n", 1)[1].split()
    return CurlRun(done.returncode, done.stdout, err, int(connect), int(status))


def s_client(proxy, source, target, *arguments, servername=None, data=b"", seconds=20):
    command = ["openssl", "s_client", "-proxy", proxy, "-bind", source, "-connect", target]
    command += ["-servername", servername] if servername else ["-noservername"]
    done = subprocess.run(command + list(arguments), input=data, capture_output=True,
                          env=_environment(), timeout=seconds, check=False)
    return Run(done.returncode, done.stdout, done.stderr.decode("latin-1"))
