"""Place: the proxy and the origins of the matrix, with what package managers look for there."""

import base64
import hashlib
import http
import io
import json
import socket
import subprocess
import tarfile
import zipfile

from harness.http_origin import response
from harness.wait import until

OK = b"stile-ok: " + b"0123456789" * 10
ALLOWED, REFUSED, SPEAKS_H2 = "a.test", "r.test", "h.test"


def serve(body, kind="application/octet-stream"):
    """GET, HEAD and ranges of one file."""
    def responder(exchange):
        request = exchange.request
        exchange.read_body()
        sent, status, headers = body, "200 OK", [f"Content-Type: {kind}"]
        if wanted := request.value("Range"):
            first, last = (int(part) for part in wanted.split("=")[1].split("-"))
            sent, status = body[first:last + 1], "206 Partial Content"
            headers.append(f"Content-Range: bytes {first}-{last}/{len(body)}")
        answer = response(sent, status, headers)
        exchange.send(answer[:len(answer) - len(sent)] if request.method == "HEAD" else answer)
        return request.version == "HTTP/1.1" and request.value("Connection") != "close"
    return responder


def missing(exchange):
    exchange.read_body()
    exchange.send(response(b"no such file", f"404 {http.HTTPStatus.NOT_FOUND.phrase}"))


def uploaded(exchange):
    """Asks for the body with a 100 if the client waits for it, and tells how much came."""
    if exchange.request.value("Expect"):
        exchange.send(b"HTTP/1.1 100 Continue\r\n\r\n")
    exchange.send(response(OK + b" %d" % len(exchange.read_body())))


def with_trailers(exchange):
    exchange.read_body()
    exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-After\r\n\r\n"
                  b"%x\r\n%s\r\n0\r\nX-After: late\r\n\r\n" % (len(OK), OK))


def websocket(exchange):
    """The handshake of RFC 6455, then one frame back for one frame."""
    key = exchange.request.value("Sec-WebSocket-Key").encode()
    magic = key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    accept = base64.b64encode(hashlib.sha1(magic).digest())
    exchange.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                  b"Connection: Upgrade\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n")
    exchange.conn.recv()
    exchange.send(bytes([0x81, len(OK)]) + OK)
    return False


class Place:
    def __init__(self, world):
        self.world, self.folder = world, world.folder
        self.port, self.http_port = world.port, world.http_port
        self.ca_file = world.certificates.ca_file
        self.origin = world.tls_origin(ALLOWED)
        self.http_origin = world.http_origin(ALLOWED, address=self.origin.address)
        self.trap = world.tcp_origin(REFUSED)
        self.http_trap = world.http_origin(address=self.trap.address)
        world.agent("alpha", source=["127.0.0.1"], allow=[ALLOWED, SPEAKS_H2])
        self._start_h2()
        self.proxy = world.start()
        self.proxy_url = f"http://{self.proxy.listen}"
        for origin in (self.origin, self.http_origin):
            origin.default = missing
            self._fill(origin)

    def url(self, host, path="/x"):
        return f"https://{host}:{self.port}{path}"

    def http_url(self, host, path="/x"):
        return f"http://{host}:{self.http_port}{path}"

    def visits(self):
        return len(self.origin.requests) + len(self.http_origin.requests)

    def _fill(self, origin):
        origin.on("/x", serve(OK, "text/plain"))
        origin.on("/up", uploaded)
        origin.on("/trailers", with_trailers)
        origin.on("/ws", websocket)
        self._add_git(origin)
        self._add_wheel(origin)
        self._add_npm(origin)
        origin.on("/apt/./Packages", serve(b""))
        origin.on("/apt/Packages", serve(b""))

    def _start_h2(self):
        """The only HTTP/2 server at hand does not remember anything, so it only serves."""
        address = self.world.new_address()
        self.world.dns.host(SPEAKS_H2, address)
        self.world.open_address(address)
        self.world.write("h2/x", OK.decode())
        certificates = self.world.certificates
        self.h2 = subprocess.Popen(
            ["/usr/sbin/nghttpd", "--address", address, "-d", str(self.folder / "h2"),
             str(self.port), certificates.key_file, certificates.chain_file],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def is_up():
            with socket.socket() as probe:
                return probe.connect_ex((address, self.port)) == 0
        until(is_up, 20, "the HTTP/2 origin")

    def _add_git(self, origin):
        """A bare repository behind a server that knows nothing of git."""
        repository = self.folder / "repository"
        if not repository.exists():
            git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.test", "-c",
                   "init.defaultBranch=main"]
            for command in (["init", "-q", str(repository)],
                            ["-C", str(repository), "commit", "-q", "--allow-empty", "-m", "ok"],
                            ["-C", str(repository), "update-server-info"]):
                subprocess.run(git + command, check=True,
                               env={"PATH": "/usr/bin:/bin", "HOME": "/"})
        for path in (repository / ".git").rglob("*"):
            if path.is_file():
                name = path.relative_to(repository / ".git")
                origin.on(f"/repository.git/{name}", serve(path.read_bytes()))

    @staticmethod
    def _add_wheel(origin):
        wheel = io.BytesIO()
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("tiny-1.0.dist-info/METADATA",
                             "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
            archive.writestr("tiny-1.0.dist-info/WHEEL",
                             "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr("tiny-1.0.dist-info/RECORD", "")
        name = "tiny-1.0-py3-none-any.whl"
        origin.on("/simple/tiny/", serve(f'<a href="/{name}">{name}</a>'.encode(), "text/html"))
        origin.on(f"/{name}", serve(wheel.getvalue()))

    def _add_npm(self, origin):
        package = json.dumps({"name": "tiny", "version": "1.0.0"}).encode()
        tarball = io.BytesIO()
        with tarfile.open(fileobj=tarball, mode="w:gz") as archive:
            entry = tarfile.TarInfo("package/package.json")
            entry.size = len(package)
            archive.addfile(entry, io.BytesIO(package))
        about = {"name": "tiny", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {
            "name": "tiny", "version": "1.0.0", "dist": {
                "tarball": self.url(ALLOWED, "/tiny.tgz"),
                "shasum": hashlib.sha1(tarball.getvalue()).hexdigest()}}}}
        origin.on("/tiny", serve(json.dumps(about).encode(), "application/json"))
        origin.on("/tiny.tgz", serve(tarball.getvalue()))

    def close(self):
        self.h2.terminate()
        self.h2.wait()
