"""Forwarder: adds the token to each request, for clients that cannot send one."""

import http.client
import http.server
import threading

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "host"}


class Forwarder:
    def __init__(self, target, token):
        handler = type("Handler", (_Handler,), {"target": target, "token": token})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.host = f"127.0.0.1:{self.server.server_port}"
        self.url = f"http://{self.host}/mcp"
        handler.own = self.host
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    def forward(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        upstream = http.client.HTTPConnection(self.target, timeout=60)
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        # Another name than its own goes on as it is: judging that is the server's part.
        upstream.putheader("Host", (self.headers["Host"] or "").replace(self.own, self.target))
        upstream.putheader("Authorization", f"Bearer {self.token}")
        for name, value in self.headers.items():
            if name.lower() not in HOP_BY_HOP:
                upstream.putheader(name, value.replace(self.own, self.target) if name.lower() == "origin" else value)
        upstream.endheaders(body)
        answer = upstream.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        while piece := answer.read1(65536):
            self.wfile.write(piece)
            self.wfile.flush()
        upstream.close()

    do_GET = do_POST = do_DELETE = forward

    def log_message(self, *_):
        pass
