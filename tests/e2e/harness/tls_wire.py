"""WireTls: TLS over a socket, with its records and its end under the test's control."""

import socket
import ssl


class WireTls:
    """Stands in for the socket of a Client. A FIN alone is `cut`, an announced end is `shutdown`."""

    def __init__(self, sock, name, ca_file, version=None):
        self.sock = sock
        context = ssl.create_default_context(cafile=ca_file)
        if version:
            context.minimum_version = context.maximum_version = version
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname=name)
        self._run(self.tls.do_handshake)

    def _flush(self):
        if data := self.outgoing.read():
            self.sock.sendall(data)

    def _run(self, action):
        while True:
            try:
                result = action()
            except ssl.SSLWantReadError:
                self._flush()
                if data := self.sock.recv(65536):
                    self.incoming.write(data)
                else:
                    self.incoming.write_eof()
                continue
            self._flush()
            return result

    def records(self, data):
        """The bytes of the records that carry this, without sending them."""
        self._flush()
        self.tls.write(data)
        return self.outgoing.read()

    def sendall(self, data):
        self.tls.write(data)
        self._flush()

    def recv(self, size=65536):
        try:
            return self._run(lambda: self.tls.read(size))
        except ssl.SSLZeroReturnError:
            return b""
        except ssl.SSLError as error:
            raise ConnectionResetError(str(error)) from error

    def shutdown(self, _how):
        """close_notify: the end of what this side sends. The other side can go on."""
        try:
            self.tls.unwrap()
        except ssl.SSLError:
            pass
        self._flush()

    def cut(self):
        """The FIN of somebody on the way, who cannot make a close_notify."""
        self.sock.shutdown(socket.SHUT_WR)

    def settimeout(self, seconds):
        self.sock.settimeout(seconds)

    def close(self):
        self.sock.close()


def open_wire(proxy, host, port, agent="alpha", version=None):
    """A Client whose requests go into an opened tunnel."""
    client = proxy.client(agent)
    assert client.connect_to(host, port).status == 200
    client.sock = WireTls(client.sock, host, proxy.stile_ca, version)
    return client
