"""The whole picture: a host between agents and an Internet, with ears everywhere."""

import json
import tempfile
from pathlib import Path

from lab.host import BUILD, PYTHON, Host, Namespace, wait_until

SENSOR = Path(__file__).parent / "sensor.py"

HOST_SERVICES = ["tcp:10.200.0.1:3128", "tcp:0.0.0.0:8080", "tcp:127.0.0.1:8081", "tcp:0.0.0.0:9128",
                 "tcp:0.0.0.0:22", "tcp:0.0.0.0:53", "udp:0.0.0.0:53", "udp:0.0.0.0:5353", "udp:0.0.0.0:3128",
                 "udp:0.0.0.0:67", "tcp::::8080", "udp::::5353"]
OUTSIDE_SERVICES = ["tcp:0.0.0.0:443", "tcp:0.0.0.0:80", "tcp:0.0.0.0:53", "udp:0.0.0.0:53", "udp:0.0.0.0:443",
                    "tcp::::443", "packets"]


class Sensor:
    def __init__(self, place, folder, name, services, command=()):
        self.log = Path(folder) / f"{name}.log"
        self.process = place.popen(*command, PYTHON, SENSOR, self.log, *services, stdin=-1, stdout=-1,
                                   text=True)
        assert self.process.stdout.readline() == "ready\n", name
        self.position = 0

    def heard(self):
        """What has come since the last call. Waits until the sensor has written all of it."""
        self.process.stdin.write("written?\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "written\n"
        with open(self.log) as file:
            file.seek(self.position)
            lines = file.readlines()
            self.position = file.tell()
        return [json.loads(line) for line in lines]


def connect(host, outside):
    """An uplink with a default route, and the way back: if something gets out, it gets an answer."""
    host.run("ip", "link", "add", "up0", "type", "veth", "peer", "name", "in0")
    host.run("ip", "link", "set", "in0", "netns", outside.process.pid)
    for place, commands in (
        (host, ["addr add 198.51.100.2/24 dev up0", "link set up0 up",
                "route add default via 198.51.100.1"]),
        (outside, ["addr add 198.51.100.1/24 dev in0", "link set in0 up", "addr add 192.0.2.1/32 dev lo",
                   "addr add 169.254.169.254/32 dev lo", "route add 10.200.0.0/16 via 198.51.100.2"]),
    ):
        for command in commands:
            place.run("ip", *command.split())


class World:
    def __init__(self, agents=("alpha", "beta"), capture=False):
        self.folder = tempfile.TemporaryDirectory(prefix="fence-", dir=BUILD)
        self.host = Host()
        self.outside = Namespace(["--net"], "ip link set lo up; echo ready; exec setpriv --pdeathsig KILL sleep infinity")
        connect(self.host, self.outside)
        self.host.write("/etc/stile/stile.toml", f"[netns]\ncapture = {str(capture).lower()}\n")
        self.agents = {agent: self.host.create(agent) for agent in agents}
        self.sensors = {
            "host": Sensor(self.host, self.folder.name, "host", HOST_SERVICES),
            "outside": Sensor(self.outside, self.folder.name, "outside", OUTSIDE_SERVICES),
        }
        if "beta" in agents:
            self.sensors["beta"] = Sensor(self.host, self.folder.name, "beta", ["tcp:0.0.0.0:7000", "packets"],
                                          ["ip", "netns", "exec", "agent-beta"])

    def heard(self):
        """Everything that any sensor heard since the last call, with its name."""
        return [{"sensor": name, **event} for name, sensor in self.sensors.items() for event in sensor.heard()]

    def wait_to_hear(self, is_enough):
        """Everything heard until that is enough: a packet may take its time on a busy machine."""
        events = []
        wait_until(lambda: events.extend(self.heard()) or is_enough(events), "to be heard by a sensor")
        return events

    def escaped(self, address="10.200.0.2"):
        """What was heard beyond connections to the proxy's port that come from that address."""
        def is_fine(event):
            return event["sensor"] == "host" and event.get("port") == 3128 and (
                event["kind"] == "reset" or (event["kind"] in ("tcp", "data") and event["peer"] == address))
        return [event for event in self.heard() if not is_fine(event)]

    def close(self):
        self.outside.close()
        self.host.close()
        self.folder.cleanup()
