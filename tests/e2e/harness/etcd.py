"""Etcd: a real cluster of etcd on loopback, with TLS for its clients."""

import datetime
import ipaddress
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from .wait import until


def missing():
    """Why the tests with a cluster cannot run; empty: they can."""
    absent = [name for name in ("etcd", "etcdctl") if not shutil.which(name)]
    return f"{', '.join(absent)} not installed (Debian: etcd-server, etcd-client)" if absent else ""


PORTS_OF_A_PROCESS = 1375  # of 16 processes of pytest, below the range of the kernel for outgoing connections
_handed_out = set()


def free_port(address="127.0.0.1"):
    """Its program binds it later, so it is handed out once, and by one process of pytest."""
    process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 16
    first = 10000 + process * PORTS_OF_A_PROCESS
    while True:
        port = random.randrange(first, first + PORTS_OF_A_PROCESS)
        if port in _handed_out:
            continue
        with socket.socket() as sock:
            try:
                sock.bind((address, port))
            except OSError:
                continue
        _handed_out.add(port)
        if len(_handed_out) > PORTS_OF_A_PROCESS // 2:
            _handed_out.clear()
        return port


class StoreCertificates:
    """A CA, a certificate for 127.0.0.1, and one for a client."""

    def __init__(self, folder):
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.ca, self.cert, self.key = (str(folder / name) for name in ("ca.pem", "node.pem", "node.key"))
        self.client_cert, self.client_key = str(folder / "client.pem"), str(folder / "client.key")
        ca_key = ec.generate_private_key(ec.SECP256R1())
        name = self._name("fleet test CA")
        ca = self._builder(name, name, ca_key).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True).sign(ca_key, hashes.SHA256())
        Path(self.ca).write_bytes(ca.public_bytes(serialization.Encoding.PEM))
        for subject, cert, key_file in (("node", self.cert, self.key),
                                        ("client", self.client_cert, self.client_key)):
            key = ec.generate_private_key(ec.SECP256R1())
            names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
            leaf = self._builder(self._name(subject), name, key).add_extension(names, critical=False).sign(
                ca_key, hashes.SHA256())
            Path(cert).write_bytes(leaf.public_bytes(serialization.Encoding.PEM))
            Path(key_file).write_bytes(key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))

    @staticmethod
    def _name(text):
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    @staticmethod
    def _builder(subject, issuer, key):
        now = datetime.datetime.utcnow()
        return (x509.CertificateBuilder().subject_name(subject).issuer_name(issuer)
                .public_key(key.public_key()).serial_number(x509.random_serial_number())
                .not_valid_before(now - datetime.timedelta(days=1))
                .not_valid_after(now + datetime.timedelta(days=2)))


class Node:
    def __init__(self, folder, name, certificates, client_auth):
        self.folder, self.name, self.certificates = Path(folder), name, certificates
        self.client_auth = client_auth
        self.port, self.peer_port = free_port(), free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self.peer = f"http://127.0.0.1:{self.peer_port}"
        self.process = None

    def start(self, cluster):
        command = ["etcd", "--name", self.name, "--data-dir", str(self.folder / self.name),
                   "--listen-client-urls", self.url, "--advertise-client-urls", self.url,
                   "--cert-file", self.certificates.cert, "--key-file", self.certificates.key,
                   "--listen-peer-urls", self.peer, "--initial-advertise-peer-urls", self.peer,
                   "--initial-cluster", cluster, "--heartbeat-interval", "50",
                   "--election-timeout", "500", "--log-level", "error"]
        if self.client_auth:
            command += ["--client-cert-auth", "--trusted-ca-file", self.certificates.ca]
        with open(self.folder / f"{self.name}.log", "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"})

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(10)


class Cluster:
    """A node is started with `start`, and killed with its own `kill`."""

    def __init__(self, folder, size=1, client_auth=False):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.certificates = StoreCertificates(self.folder / "certs")
        self.client_auth = client_auth
        self.nodes = [Node(self.folder, f"n{i}", self.certificates, client_auth) for i in range(size)]
        self.start()

    @property
    def endpoints(self):
        return [node.url for node in self.nodes]

    def start(self):
        """Starts the nodes that do not run, and waits until the cluster answers."""
        cluster = ",".join(f"{node.name}={node.peer}" for node in self.nodes)
        for node in self.nodes:
            if node.process is None or node.process.poll() is not None:
                node.start(cluster)
        until(lambda: self.ctl("endpoint", "health", check=False).returncode == 0, 30, "the cluster")

    def ctl(self, *arguments, check=True, endpoints=None, user=None):
        command = ["etcdctl", "--endpoints", ",".join(endpoints or self.endpoints),
                   "--cacert", self.certificates.ca]
        if self.client_auth:
            command += ["--cert", self.certificates.client_cert, "--key", self.certificates.client_key]
        if user:
            command += ["--user", user]
        return subprocess.run([*command, *arguments], capture_output=True, timeout=30, check=check,
                              env={"PATH": os.environ["PATH"], "ETCDCTL_API": "3"})

    def get(self, key):
        """The value, or None."""
        out = self.ctl("get", "--print-value-only", key).stdout
        return out[:-1].decode() if out else None

    def put(self, key, value):
        self.ctl("put", "--", key, value)

    def revision(self):
        return json.loads(self.ctl("get", "x", "-w", "json").stdout)["header"]["revision"]

    def leader(self):
        found = json.loads(self.ctl("endpoint", "status", "-w", "json", check=False).stdout or b"[]")
        for one in found:
            status = one["Status"]
            if status["leader"] == status["header"]["member_id"]:
                return next(node for node in self.nodes if node.url == one["Endpoint"])
        return None

    def close(self):
        for node in self.nodes:
            node.kill()


class Relay:
    """TCP between a host and a node; a cut one keeps connections and passes nothing."""

    def __init__(self, port):
        self.target = ("127.0.0.1", port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
        self.open = threading.Event()
        self.open.set()
        self._sockets = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                node = socket.create_connection(self.target)
            except OSError:
                return
            self._sockets += [client, node]
            for pair in ((client, node), (node, client)):
                threading.Thread(target=self._pump, args=pair, daemon=True).start()

    def _pump(self, source, sink):
        try:
            while data := source.recv(65536):
                self.open.wait()
                sink.sendall(data)
        except OSError:
            pass
        for sock in (source, sink):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        self.open.clear()

    def mend(self):
        self.open.set()

    def close(self):
        self.open.set()
        self.listener.close()
        for sock in self._sockets:
            sock.close()
