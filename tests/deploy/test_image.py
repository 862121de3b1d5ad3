"""The image of deploy/k8s/Dockerfile, run as a node would run it: `make image-test` builds it and calls this.

The network is that of a namespace with a loopback only, in which the origins of the tests are as well.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml
from harness.config import toml
from harness.metrics import http_get
from harness.origin import echo
from harness.stiled import Stiled
from harness.wait import until

BASE = Path(__file__).resolve().parents[2] / "deploy" / "k8s" / "base"
STORE = os.environ.get("STILE_IMAGE_STORE", "")
IMAGE = "localhost/stile:test"
MOST_BYTES = 64 << 20

pytestmark = pytest.mark.skipif(not STORE, reason="no image was built: make image-test does it, as root")


def podman(*words, check=True, **options):
    line = ["podman", "--root", f"{STORE}/images", "--runroot", f"{STORE}/run", "--storage-driver", "vfs", *map(str, words)]
    return subprocess.run(line, text=True, capture_output=True, timeout=120, check=check, **options).stdout


def container_of_daemonset():
    template = yaml.safe_load((BASE / "daemonset.yaml").read_text())["spec"]["template"]["spec"]
    return template, template["containers"][0]


class Gateway(Stiled):
    """The daemon in its container, with the mounts and the bounds of the DaemonSet."""

    def __init__(self, world):
        settings = world.settings(server={"control": "/run/stile/control.sock", "state_dir": "/var/lib/stile"},
                                  audit={"path": "-"}, limits={"drain_timeout_ms": 20000},
                                  intercept={"ca": "/var/lib/stile/ca", "trust": []}, dns={"hosts_file": "/dev/null"})
        super().__init__(world.folder, settings, world.addresses, world.certificates.ca_file)
        self.name = f"stile-{os.getpid()}-{world.folder.name}"

    def start(self):
        template, container = container_of_daemonset()
        config = self.folder / "config"
        config.mkdir()
        (config / "stile.toml").write_text(toml(self.settings))
        mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        user = template["securityContext"]["runAsUser"]
        writable = [f"--mount=type=tmpfs,destination={mounts[name]},tmpfs-mode=1777" for name in ("run", "state")]
        podman("run", "--detach", "--name", self.name, "--network=host", "--cgroups=disabled", "--read-only",
               "--read-only-tmpfs=false", "--cap-drop=all", "--security-opt=no-new-privileges", f"--user={user}:{user}",
               "--ulimit=nofile=4096:4096", "--ulimit=nproc=1024:1024", *writable,
               f"--volume={config}:{mounts['config']}:ro", IMAGE, *container["args"])
        until(self.is_ready, 30, "readiness of the container")
        return self

    def is_ready(self):
        assert self.state()["Running"], podman("logs", self.name)
        try:
            return http_get(self.metrics_address, "/readyz")[0] == 200
        except OSError:
            return False

    def state(self):
        return json.loads(podman("inspect", self.name))[0]["State"]

    def lines(self):
        return [json.loads(line) for line in podman("logs", self.name).splitlines() if line.startswith("{")]

    def remove(self):
        podman("rm", "--force", "--time=0", self.name)


@pytest.fixture
def gateway(world):
    world.agent("alpha", allow=["a.test"])
    world.tcp_origin("a.test", handler=echo)
    made = Gateway(world).start()
    yield made
    made.remove()


def test_it_is_small_and_has_nothing_else_to_run():
    image = json.loads(podman("image", "inspect", IMAGE))[0]
    assert image["Size"] < MOST_BYTES, image["Size"]
    assert image["Config"]["User"] == "65532:65532"
    assert image["Config"]["Entrypoint"] == ["/usr/bin/stiled"]


def test_it_runs_without_rights_on_a_read_only_root(gateway):
    process = Path(f"/proc/{gateway.state()['Pid']}")
    status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines() if ":\t" in line)
    assert status["Uid"].split() == ["65532"] * 4 and status["Gid"].split() == ["65532"] * 4
    assert {int(status[f"Cap{which}"], 16) for which in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {0}
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    (root,) = [line.split() for line in (process / "mountinfo").read_text().splitlines() if line.split()[4] == "/"]
    assert "ro" in root[5].split(",")


def test_it_is_healthy_allows_and_refuses(gateway, world):
    assert http_get(gateway.metrics_address, "/healthz")[0] == 200
    tunnel = gateway.open_tunnel("a.test", world.port)
    assert tunnel.recv_exactly(len(tunnel.hello)) == tunnel.hello  # the origin sends it back
    tunnel.close()
    refused = gateway.connect("b.test", world.port)
    assert (refused.status, refused.reason) == (403, "host-not-allowed")
    until(lambda: {"open", "deny", "close"} <= {line["event"] for line in gateway.lines()}, 20, "the lines in its log")
    assert "1 allowed, 1 denied" in podman("exec", gateway.name, "/usr/bin/stile", "status")


def test_it_stops_within_the_grace_period_and_drains_its_tunnels(gateway, world):
    grace = container_of_daemonset()[0]["terminationGracePeriodSeconds"]
    tunnel = gateway.open_tunnel("a.test", world.port)
    tunnel.recv_exactly(len(tunnel.hello))
    stop = subprocess.Popen(["podman", "--root", f"{STORE}/images", "--runroot", f"{STORE}/run", "--storage-driver", "vfs",
                             "stop", f"--time={grace}", gateway.name], stdout=subprocess.DEVNULL)
    until(lambda: http_get(gateway.metrics_address, "/readyz")[0] == 503, 30, "the drain")
    tunnel.send(b"still here")
    assert tunnel.recv_exactly(10) == b"still here"
    tunnel.close()
    assert stop.wait(grace) == 0
    assert gateway.state()["ExitCode"] == 0  # 137: it was killed
    last = gateway.lines()
    assert last[-1]["event"] == "stop" and [line["event"] for line in last].count("close") == 1
