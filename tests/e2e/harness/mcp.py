"""A scripted MCP client: both eras of the protocol, over standard input and over HTTP."""

import http.client
import json
import queue
import subprocess
import threading

from .cli import environment
from .stiled import binary

SESSION, STATELESS = "2025-11-25", "2026-07-28"
PREFIX = "io.modelcontextprotocol/"


def meta(capabilities=None, **more):
    return {f"{PREFIX}protocolVersion": STATELESS, f"{PREFIX}clientCapabilities": capabilities or {},
            f"{PREFIX}clientInfo": {"name": "test", "version": "1"}, **more}


class ToolFailed(Exception):
    """A result with isError; its text."""


def structured(answer):
    """The structured result of an answer to tools/call."""
    assert "result" in answer, answer
    text = answer["result"]["content"][0]["text"]
    if answer["result"]["isError"]:
        raise ToolFailed(text)
    assert json.loads(text) == answer["result"]["structuredContent"]
    return answer["result"]["structuredContent"]


class StdioClient:
    """Starts the server; a thread of its own reads what the server writes."""

    def __init__(self, command=None, era=SESSION, env=None, seconds=50, capabilities=None):
        command = command or [binary("stile"), "mcp"]
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=env or environment())
        self.era, self.seconds, self.capabilities = era, seconds, capabilities or {}
        self.next_id, self.notes, self.answers = 1, queue.Queue(), queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        if era == SESSION:
            self.greeting = self.ask("initialize", {"protocolVersion": SESSION, "capabilities": self.capabilities,
                                                    "clientInfo": {"name": "test", "version": "1"}})["result"]
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            (self.notes if "method" in message else self.answers).put(message)
        self.answers.put(None)

    def send(self, message):
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def start(self, method, params=None, **more_meta):
        """Sends a request; returns its id."""
        number, self.next_id = self.next_id, self.next_id + 1
        params = dict(params or {})
        if self.era == STATELESS:
            params["_meta"] = meta(self.capabilities, **more_meta)
        elif more_meta:
            params["_meta"] = more_meta
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def answer(self):
        return self.answers.get(timeout=self.seconds)

    def ask(self, method, params=None, **more_meta):
        number = self.start(method, params, **more_meta)
        answer = self.answer()
        assert answer and answer.get("id") == number, answer
        return answer

    def call(self, tool, _meta=None, **arguments):
        return structured(self.ask("tools/call", {"name": tool, "arguments": arguments}, **(_meta or {})))

    def problem(self, tool, **arguments):
        try:
            return f"no problem: {self.call(tool, **arguments)}"
        except ToolFailed as failed:
            return str(failed)

    def close(self):
        self.process.stdin.close()
        code = self.process.wait(20)
        text = self.process.stderr.read().decode()
        assert code == 0 and "Sanitizer" not in text, (code, text)


class HttpReply:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.text = response.read().decode()
        self.is_stream = self.headers.get("content-type") == "text/event-stream"

    @property
    def messages(self):
        if not self.is_stream:
            return [json.loads(self.text)] if self.text else []
        return [json.loads(line[6:]) for line in self.text.splitlines() if line.startswith("data: ")]

    @property
    def json(self):
        return self.messages[-1]


class HttpServer:
    """`stile mcp --http`, or another program that prints its URL."""

    def __init__(self, command, env=None):
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=env or environment())
        self.url = self.process.stdout.readline().strip()
        assert self.url, self.process.stderr.read()
        self.host = self.url.removeprefix("http://").removesuffix("/mcp")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        code = self.process.wait(20)
        text = self.process.stderr.read()
        assert code == 0 and "Sanitizer" not in text, (code, text)

    def connection(self):
        return http.client.HTTPConnection(self.host, timeout=40)

    def request(self, method, body=None, path="/mcp", connection=None, **headers):
        """Header names with _ for -; None leaves one out."""
        connection = connection or self.connection()
        sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        connection.putrequest(method, path, skip_host="Host" in sent, skip_accept_encoding=True)
        for name, value in {**sent, "Content-Length": str(len(data or b""))}.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(data)
        return HttpReply(connection.getresponse())


class HttpClient:
    def __init__(self, server, token, era=SESSION):
        self.server, self.era, self.next_id = server, era, 1
        self.headers = {"Authorization": f"Bearer {token}"}
        if era == SESSION:
            reply = self.post("initialize", {"protocolVersion": SESSION, "capabilities": {},
                                             "clientInfo": {"name": "test", "version": "1"}})
            assert reply.status == 200, reply.text
            self.headers |= {"Mcp-Session-Id": reply.headers["mcp-session-id"], "MCP-Protocol-Version": SESSION}
            assert self.note("notifications/initialized").status == 202

    def note(self, method, params=None):
        return self.server.request("POST", {"jsonrpc": "2.0", "method": method, "params": params or {}}, **self.headers)

    def message(self, method, params=None, **more_meta):
        params = dict(params or {})
        headers = dict(self.headers)
        if self.era == STATELESS:
            params["_meta"] = meta(**more_meta)
            headers |= {"MCP-Protocol-Version": STATELESS, "Mcp-Method": method}
            if "name" in params:
                headers["Mcp-Name"] = params["name"]
        elif more_meta:
            params["_meta"] = more_meta
        number, self.next_id = self.next_id, self.next_id + 1
        return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}, headers

    def post(self, method, params=None, connection=None, changes=None, **more_meta):
        body, headers = self.message(method, params, **more_meta)
        return self.server.request("POST", body, connection=connection, **{**headers, **(changes or {})})

    def call(self, tool, _meta=None, **arguments):
        return structured(self.post("tools/call", {"name": tool, "arguments": arguments}, **(_meta or {})).json)
