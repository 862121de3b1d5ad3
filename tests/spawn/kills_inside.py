"""Kills spawner, daemon, fence and workers at random moments, in a machine: SEED KILLS PAUSE.

Callers spawn and terminate workers all the time, and each worker tries all the time to reach two places past the
proxy. Nothing may ever arrive there, and after everything is terminated nothing may be left.
"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

SPAWNER = "/run/agent-spawner/spawner.sock"
FIRST_UID = 0x78000000
HOST_ADDRESS, WORLD_ADDRESS = "192.0.2.1", "203.0.113.2"
TASK = f"""while :; do
(exec 3<>/dev/tcp/{HOST_ADDRESS}/80) 2>/dev/null; (exec 3<>/dev/tcp/{WORLD_ADDRESS}/80) 2>/dev/null
echo x 2>/dev/null >/dev/udp/{HOST_ADDRESS}/80; echo x 2>/dev/null >/dev/udp/{WORLD_ADDRESS}/80; sleep 0.1
done"""
ROUNDS_OF = 50  # kills between two looks at what is left


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def say(text):
    print(text, file=sys.stderr, flush=True)


class World:
    """An address of the host, and one behind it. Counts whatever arrives there."""

    def __init__(self):
        run("sysctl", "-w", "net.ipv4.ip_forward=1")
        for line in ("link add world type veth peer name outside", "netns add world", "link set outside netns world",
                     f"addr add {HOST_ADDRESS}/24 dev world", "addr add 203.0.113.1/24 dev world", "link set world up",
                     f"-n world addr add {WORLD_ADDRESS}/24 dev outside", "-n world link set outside up",
                     "-n world route add default via 203.0.113.1"):
            subprocess.run(["ip", *line.split()], check=True)
        self.arrived = []
        place = os.open("/run/netns/world", os.O_RDONLY)
        threading.Thread(target=self.serve, args=(HOST_ADDRESS, None), daemon=True).start()
        threading.Thread(target=self.serve, args=(WORLD_ADDRESS, place), daemon=True).start()
        self.prove()

    def serve(self, address, place):
        if place is not None:
            import ctypes
            assert ctypes.CDLL(None).setns(place, 0x40000000) == 0
        import selectors
        ready = selectors.DefaultSelector()
        stream = socket.create_server((address, 80))
        packets = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        packets.bind((address, 80))
        for one in (stream, packets):
            ready.register(one, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                if key.fileobj is stream:
                    made, peer = stream.accept()
                    made.close()
                else:
                    _, peer = packets.recvfrom(2048)
                self.arrived.append((address, peer[0]))

    def prove(self):
        """From a namespace without a fence, things arrive: so the silence of workers says something."""
        for address in (HOST_ADDRESS, WORLD_ADDRESS):
            end = time.monotonic() + 20
            while not any(one[0] == address for one in self.arrived):
                assert time.monotonic() < end, f"nothing arrives at {address}"
                try:
                    socket.create_connection((address, 80), timeout=1).close()
                except OSError:
                    time.sleep(0.1)
        self.arrived.clear()


def ask(request, seconds=40):
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.settimeout(seconds)
            made.connect(SPAWNER)
            made.sendall(json.dumps(request).encode() + b"\n")
            data = b""
            while not data.endswith(b"\n"):
                piece = made.recv(1 << 20)
                if not piece:
                    return {"error": "closed"}
                data += piece
        return json.loads(data)
    except OSError as problem:
        return {"error": str(problem)}


class Caller(threading.Thread):
    def __init__(self, name, chance):
        super().__init__(daemon=True)
        self.name, self.chance = name, chance
        self.go, self.is_paused = threading.Event(), threading.Event()
        self.spawned = 0
        self.go.set()

    def run(self):
        while True:
            if not self.go.is_set():
                self.is_paused.set()
                self.go.wait()
                self.is_paused.clear()
            answer = ask({"action": "spawn", "task_id": self.name, "workspace": "/mnt/agents"})
            if answer.get("status") == "spawned":
                self.spawned += 1
                ask({"action": "run", "task_id": self.name, "message": TASK})
            time.sleep(self.chance.random())
            if self.chance.random() < 0.5:
                ask({"action": "terminate", "task_id": self.name})


def processes():
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                yield int(place.name), (place / "cgroup").read_text(), place.stat().st_uid, (place / "comm").read_text().strip()
            except OSError:
                pass


def victims():
    """Those that are killed, by what they are."""
    found = {"spawner": [], "daemon": [], "fence": [], "worker": []}
    for pid, group, _, name in processes():
        if "sandboxed-agent@" in group or "stile-spawner-cleanup@" in group:
            found["worker"].append(pid)
        elif name in ("stile-spawner", "stiled"):
            found["spawner" if name == "stile-spawner" else "daemon"].append(pid)
        elif "stile-fence.service" in group:
            found["fence"].append(pid)
    return found


def unfenced(world):
    """Processes of workers that are in a network of the host, and what arrived past the proxy."""
    host = os.readlink("/proc/1/ns/net")
    found = [f"arrived: {one}" for one in world.arrived]
    for pid, _, uid, name in processes():
        try:
            if uid >= FIRST_UID and os.readlink(f"/proc/{pid}/ns/net") == host:
                found.append(f"process {pid} ({name}) of user {uid} is in the host's network")
        except OSError:
            pass  # it has just ended
    return found


def left_over():
    found = run("systemctl", "list-units", "--all", "--plain", "--no-legend", "sandboxed-agent@*", "stile-spawner-cleanup@*").splitlines()
    found += [line for line in run("ip", "netns", "list").splitlines() if line.startswith("agent-")]
    found += [line.split(":")[1].strip() for line in run("ip", "-o", "link").splitlines() if "stile-" in line]
    found += [line for line in run("ip", "route").splitlines() if "stile-" in line]
    # An element that expires counts refused packets, and goes by itself.
    found += [line.strip() for line in run("nft", "list", "ruleset").splitlines() if "elements" in line and "expires" not in line]
    for place in ("/run/agent-spawner/workers", "/run/stile/agents.d", "/run/stile/netns"):
        found += [f"{place}/{name}" for name in os.listdir(place)]
    found += [f"process {pid} ({name}) of user {uid}" for pid, _, uid, name in processes() if uid >= FIRST_UID]
    found += [line.split()[4] for line in Path("/proc/1/mountinfo").read_text().splitlines() if "agent-" in line.split()[4]]
    answer = ask({"action": "list"})
    found += [str(answer)] if answer != {"workers": []} else []
    return found


def settle(callers):
    """Terminates everything. Returns what is left half a minute later."""
    for caller in callers:
        caller.go.clear()
    for caller in callers:
        assert caller.is_paused.wait(120), f"{caller.name} does not come back"
    end = time.monotonic() + 60
    while found := left_over():
        if time.monotonic() > end:
            break
        for worker in ask({"action": "list"}).get("workers", []):
            ask({"action": "terminate", "task_id": worker["task_id"]})
        time.sleep(0.2)
    return found


def main():
    seed, kills, pause = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    chance = random.Random(seed)
    world = World()
    before = left_over()
    assert before == [], before
    callers = [Caller(f"worker-{i}", random.Random(seed + i + 1)) for i in range(4)]
    for caller in callers:
        caller.start()
    count, problems, done = {}, [], 0
    while done < kills and not problems:
        time.sleep(chance.random() * pause)
        found = victims()
        kind = chance.choices(["spawner", "daemon", "fence", "worker"], [25, 15, 10, 50])[0]
        if found[kind]:
            try:
                os.kill(chance.choice(found[kind]), signal.SIGKILL)
                count[kind] = count.get(kind, 0) + 1
                done += 1
            except ProcessLookupError:
                pass
        problems += unfenced(world)
        if done % ROUNDS_OF == 0 and found[kind]:
            problems += [f"left: {one}" for one in settle(callers)]
            for caller in callers:
                caller.go.set()
            say(f"{done} kills, {sum(one.spawned for one in callers)} workers")
    problems += [f"left: {one}" for one in settle(callers)] + unfenced(world)
    print(json.dumps({"kills": count, "workers": sum(one.spawned for one in callers), "problems": problems}))


if __name__ == "__main__":
    main()
