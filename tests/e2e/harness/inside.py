"""An opened tunnel: a client that trusts Stile's CA and sends requests inside."""

import ssl


class Inside:
    """Requests to one host, over one connection."""

    def __init__(self, world, proxy, host="a.test", agent="alpha"):
        self.host, self.port = host, world.port
        self.client = proxy.client(agent)
        assert self.client.connect_to(host, world.port).status == 200
        self.client.start_tls(host, proxy.stile_ca)

    def send(self, method, target, headers=(), body=None, host=None):
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host or f'{self.host}:{self.port}'}",
                 *headers]
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        self.client.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b""))

    def ask(self, method, target, headers=(), body=None, host=None):
        self.send(method, target, headers, body, host)
        return self.client.read_response(method)

    def get(self, target, *headers):
        return self.ask("GET", target, headers)


def try_tls(client, name, ca_file, protocols=None, versions=None):
    """The error that TLS reports, or None."""
    context = ssl.create_default_context(cafile=ca_file)
    if protocols:
        context.set_alpn_protocols(protocols)
    if versions:
        context.maximum_version = versions
    try:
        client.sock = context.wrap_socket(client.sock, server_hostname=name)
    except (ssl.SSLError, ConnectionError) as error:
        return error
    return None
