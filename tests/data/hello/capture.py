#!/usr/bin/env python3
"""Records what real TLS clients and servers say first, as the *.bin files beside this script.

Run by hand, on loopback only; a client that is not installed is left out and its old file stays.
Each client is pointed at a little CONNECT proxy here, which keeps the bytes up to the first silence
and hangs up. The names are made up (origin.test), so nothing is looked up or dialled.
"""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
HOST = "origin.test"
SILENCE = 0.4  # seconds without a byte that end a flight

NODE = """const net=require('net'),tls=require('tls');
const s=net.connect(PORT,'127.0.0.1',()=>{
  tls.connect({socket:s,servername:'origin.test',rejectUnauthorized:false}).on('error',()=>{})});"""
PYTHON = """import socket,ssl
c=ssl.create_default_context()
c.wrap_socket(socket.create_connection(('127.0.0.1',PORT)),server_hostname='origin.test')"""
GO = """package main
import "crypto/tls"
func main() { tls.Dial("tcp", "127.0.0.1:PORT", &tls.Config{ServerName: "origin.test"}) }"""
JAVA = """import javax.net.ssl.*; import java.net.*;
class J { public static void main(String[] a) throws Exception {
  Socket s = new Socket("127.0.0.1", PORT);
  SSLSocketFactory f = (SSLSocketFactory) SSLSocketFactory.getDefault();
  ((SSLSocket) f.createSocket(s, "origin.test", 443, true)).startHandshake(); } }"""
FIREFOX = """user_pref("network.proxy.type", 1);
user_pref("network.proxy.ssl", "127.0.0.1");
user_pref("network.proxy.ssl_port", PORT);
user_pref("app.normandy.enabled", false);
user_pref("security.OCSP.enabled", 0);"""

S_CLIENT = ["openssl", "s_client", "-connect", "127.0.0.1:PORT"]
CLIENTS = {
    "curl_openssl": ["curl", "-s", "-x", "http://127.0.0.1:PORT", f"https://{HOST}/"],
    "git_gnutls": ["git", "-c", "http.proxy=http://127.0.0.1:PORT", "ls-remote", f"https://{HOST}/x"],
    "wget_gnutls": ["wget", "-q", "-t1", "-O-", "-e", "https_proxy=http://127.0.0.1:PORT",
                    f"https://{HOST}/"],
    "gnutls_cli": ["gnutls-cli", "--insecure", "--sni-hostname", HOST, "-p", "PORT", "127.0.0.1"],
    "openssl": S_CLIENT + ["-servername", HOST],
    "openssl_tls12": S_CLIENT + ["-servername", HOST, "-tls1_2"],
    "openssl_no_sni": S_CLIENT + ["-noservername"],
    "openssl_groups": S_CLIENT + ["-servername", HOST, "-groups", "P-521:X448:P-384:P-256:X25519"],
    "nss": ["tstclnt", "-h", "127.0.0.1", "-p", "PORT", "-a", HOST, "-o", "-D"],
    "python": ["/usr/bin/python3", "-c", PYTHON],
    "node": ["node", "-e", NODE],
    "go": ["go", "run", "SOURCE.go"],
    "java": ["java", "SOURCE.java"],
    "chromium": ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=DIR",
                 "--proxy-server=http://127.0.0.1:PORT", "--disable-background-networking",
                 "--disable-component-update", "--no-first-run", f"https://{HOST}/"],
    "firefox": ["firefox-esr", "--headless", "--no-remote", "--profile", "DIR", f"https://{HOST}/"],
}
SOURCES = {"go": ("SOURCE.go", GO), "java": ("SOURCE.java", JAVA), "firefox": ("user.js", FIREFOX)}


def flight(connection, first_wait):
    """Everything up to the first silence."""
    data = b""
    connection.settimeout(first_wait)
    try:
        while piece := connection.recv(65536):
            data += piece
            connection.settimeout(SILENCE)
    except (socket.timeout, ConnectionResetError):
        pass
    return data


def start(name, arguments, port, directory):
    if name in SOURCES:
        file, text = SOURCES[name]
        (directory / file).write_text(text.replace("PORT", str(port)))
    words = [word.replace("PORT", str(port)).replace("DIR", str(directory)) for word in arguments]
    return subprocess.Popen(words, cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, env=environment(directory),
                            start_new_session=True)


def environment(directory):
    return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(directory), "GOFLAGS": "-mod=mod"}


def stop(process):
    os.killpg(process.pid, signal.SIGKILL)  # a browser is a family of processes
    process.wait()


def accept_tunnel(listener, host):
    """The next connection that wants to talk to host; a browser makes others too."""
    while True:
        connection, _ = listener.accept()
        connection.settimeout(10)
        opening = connection.recv(8, socket.MSG_PEEK)
        if opening.startswith(b"\x16"):
            return connection  # pointed straight at this port
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = connection.recv(1)
            if not byte:
                break
            head += byte
        if head.startswith(b"CONNECT " + host.encode()):
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            return connection
        connection.close()


def capture_client(name, arguments):
    if not shutil.which(arguments[0]):
        print(f"{name}: {arguments[0]} is not installed")
        return
    with socket.create_server(("127.0.0.1", 0)) as listener, tempfile.TemporaryDirectory(
            ignore_cleanup_errors=True) as directory:
        listener.settimeout(60)
        process = start(name, arguments, listener.getsockname()[1], pathlib.Path(directory))
        try:
            data = b""
            while not data:  # browsers open connections ahead of need and drop some
                with accept_tunnel(listener, HOST) as connection:
                    data = flight(connection, 5)
        except socket.timeout:
            pass
        finally:
            stop(process)
    save(name, data)


def save(name, data):
    if not data:
        print(f"{name}: said nothing")
        return
    (HERE / f"{name}.bin").write_bytes(data)
    print(f"{name}: {len(data)} bytes")


def capture_exchange(name, server_options):
    """A handshake of s_client with s_server, each flight kept on its way through."""
    with tempfile.TemporaryDirectory() as directory, socket.create_server(("127.0.0.1", 0)) as listener:
        directory = pathlib.Path(directory)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                        "-nodes", "-subj", f"/CN={HOST}", "-keyout", "key", "-out", "cert"],
                       cwd=directory, check=True, stderr=subprocess.DEVNULL)
        with socket.create_server(("127.0.0.1", 0)) as probe:
            server_port = probe.getsockname()[1]
        server = start(name, ["openssl", "s_server", "-accept", f"127.0.0.1:{server_port}", "-key", "key",
                              "-cert", "cert", "-quiet"] + server_options, 0, directory)
        client = start(name, CLIENTS["openssl"], listener.getsockname()[1], directory)
        try:
            listener.settimeout(10)
            with accept_tunnel(listener, HOST) as down, connect(server_port) as up:
                up.sendall(flight(down, 5))
                answer = flight(up, 5)
                save(f"{name}_server", answer)
                down.sendall(answer)
                save(f"{name}_client", flight(down, 5))
        finally:
            stop(client)
            stop(server)


def connect(port):
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            pass  # s_server is still starting


def main():
    wanted = sys.argv[1:]
    for name, arguments in CLIENTS.items():
        if not wanted or name in wanted:
            capture_client(name, arguments)
    exchanges = {"retry": ["-groups", "P-384"], "tls13": [], "tls12": ["-tls1_2"]}
    for name, options in exchanges.items():
        if not wanted or name in wanted:
            capture_exchange(name, options)


if __name__ == "__main__":
    main()
