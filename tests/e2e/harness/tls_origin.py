"""TlsOrigin: an HTTPS server that remembers each server name and each request."""

import socket
import ssl

from .http_origin import HttpOrigin


class TlsOrigin(HttpOrigin):
    """`curve` restricts the key exchange, which makes it answer most clients with a retry."""

    def __init__(self, address, port, certificates, curve=None, handler=None):
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificates.chain_file, certificates.key_file)
        self._context.sni_callback = self._note_name
        if curve:
            self._context.set_ecdh_curve(curve)
        self._handler = handler
        super().__init__(address, port)

    @staticmethod
    def _note_name(tls, name, _context):
        tls.stile_connection.sni = name

    def serve(self, conn):
        conn.raw_start = conn.sock.recv(65536, socket.MSG_PEEK)
        if conn.raw_start and self.on_first_byte:
            self.on_first_byte(conn)
        tls = self._context.wrap_socket(conn.sock, server_side=True, do_handshake_on_connect=False)
        tls.stile_connection = conn
        conn.sock = tls
        tls.do_handshake()
        if self._handler:
            self._handler(conn)
        else:
            super().serve(conn)

    def names(self):
        return [conn.sni for conn in self.connections]
