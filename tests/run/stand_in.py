"""Stand-ins for the APIs of models: each has its agent call tools, one after another, and then says that it is done.

They speak what the agents speak: server-sent events of Anthropic's messages, OpenAI's responses and Gemini's contents.
"""

import base64
import hashlib
import json
from dataclasses import dataclass, field

from harness.http_origin import response

DONE = "That was all."


@dataclass
class Call:
    """What the model wants: a file written, or a command run."""
    kind: str  # "write" or "shell"
    path: str = ""
    text: str = ""  # of the file, or the command


@dataclass
class StandIn:
    calls: list
    seen: list = field(default_factory=list)  # the requests that had tools, as JSON

    def serve(self, origin):
        origin.default = self.answer

    def answer(self, exchange):
        body = exchange.read_body()
        try:
            request = json.loads(body) if body else {}
        except ValueError:
            request = {}
        answered = self.reply(exchange, request)
        if not answered:
            exchange.send(response(b"{}", headers=["Content-Type: application/json"]))

    def next_call(self, request, results):
        """Which call comes after so many results; None: all are done."""
        self.seen.append(request)
        return self.calls[results] if results < len(self.calls) else None


def send_events(exchange, events):
    """Each event leaves by itself, as a model's words do."""
    exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
                  b"Transfer-Encoding: chunked\r\n\r\n")
    for name, data in events:
        text = (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"
        exchange.send(f"{len(text.encode()):x}\r\n{text}\r\n".encode())
    exchange.send(b"0\r\n\r\n")


def send_json(exchange, data):
    exchange.send(response(json.dumps(data).encode(), headers=["Content-Type: application/json"]))


def pick(names, *wanted):
    """The first of these names that the agent offers."""
    return next((name for name in wanted if name in names), None)


class Anthropic(StandIn):
    """POST /v1/messages, for Claude Code and opencode."""

    def reply(self, exchange, request):
        if not exchange.request.target.split("?")[0].endswith("/messages") or "messages" not in request:
            return False
        names = {tool.get("name") for tool in request.get("tools") or []}
        call = None
        if pick(names, "Write", "write"):
            blocks = [block for message in request["messages"] if isinstance(message["content"], list)
                      for block in message["content"]]
            call = self.next_call(request, sum(block["type"] == "tool_result" for block in blocks))
        block = self.block(call, names) if call else {"type": "text", "text": DONE}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": request.get("model", "m"),
                   "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
        reason = "tool_use" if call else "end_turn"
        if not request.get("stream"):
            send_json(exchange, {**message, "content": [block], "stop_reason": reason})
        else:
            send_events(exchange, self.events(message, block, reason))
        return True

    @staticmethod
    def block(call, names):
        if call.kind == "write":
            key = "file_path" if "Write" in names else "filePath"
            made = {"name": pick(names, "Write", "write"), "input": {key: call.path, "content": call.text}}
        else:
            made = {"name": pick(names, "Bash", "bash"), "input": {"command": call.text, "description": "looks around"}}
        return {"type": "tool_use", "id": f"toolu_{abs(hash(call.text)) % 10**9}", **made}

    @staticmethod
    def events(message, block, reason):
        first = {**block, "input": {}} if block["type"] == "tool_use" else {**block, "text": ""}
        delta = ({"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
                 if block["type"] == "tool_use" else {"type": "text_delta", "text": block["text"]})
        events = [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": first},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None},
             "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        ]
        return [(event["type"], event) for event in events]


class OpenAi(StandIn):
    """POST /v1/responses, for Codex. It writes files by commands."""

    def reply(self, exchange, request):
        target = exchange.request.target.split("?")[0]
        if exchange.request.value("Upgrade"):  # this one has no WebSocket
            exchange.send(response(b"", "426 Upgrade Required"))
            return True
        if not target.endswith("/responses") or "input" not in request:
            return False
        results = [item for item in request["input"] if item.get("type", "").endswith("call_output")]
        send_events(exchange, [(event["type"], event) for event in self.events(request, len(results))])
        return True

    def events(self, request, results):
        names = {tool.get("name") for tool in request.get("tools") or []}
        call = None
        if pick(names, "exec_command", "shell_command", "shell"):
            call = self.next_call(request, results)
        item = self.item(call, names) if call else {
            "type": "message", "role": "assistant", "id": "msg_1", "content": [{"type": "output_text", "text": DONE}]}
        # A request that only warms up the connection gets no answer of the model.
        items = [] if request.get("generate") is False else [item]
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        return [{"type": "response.created", "response": {"id": "resp_1"}},
                *({"type": "response.output_item.done", "output_index": 0, "item": one} for one in items),
                {"type": "response.completed", "response": {"id": "resp_1", "usage": usage, "output": items}}]

    @staticmethod
    def item(call, names):
        command = call.text if call.kind == "shell" else f"printf %s '{call.text}' > '{call.path}'"
        name = pick(names, "exec_command", "shell_command", "shell")
        arguments = {"exec_command": {"cmd": command}, "shell_command": {"command": command},
                     "shell": {"command": ["sh", "-c", command]}}[name]
        return {"type": "function_call", "id": "fc_1", "call_id": f"call_{abs(hash(command)) % 10**9}", "name": name,
                "arguments": json.dumps(arguments)}


class OpenAiSocket(OpenAi):
    """The same over a WebSocket: each text of the agent is a request, each event a text."""

    def reply(self, exchange, request):
        if not exchange.request.value("Upgrade"):
            return super().reply(exchange, request)
        key = exchange.request.value("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        exchange.send(f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                      f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode())
        results = 0
        while (text := read_text(exchange)) is not None:
            wanted = json.loads(text)
            # What the agent has sent on this connection before is not sent again.
            results += sum(item.get("type", "").endswith("call_output") for item in wanted.get("input", []))
            for event in self.events(wanted, results):
                exchange.send(text_frame(json.dumps(event).encode()))
        return True


def read_text(exchange):
    """The next text of a WebSocket client, put together from its frames; None: it has ended."""
    message = b""
    while len(head := exchange.read(2)) == 2:
        size = head[1] & 0x7f
        if size >= 126:
            size = int.from_bytes(exchange.read(2 if size == 126 else 8), "big")
        mask = exchange.read(4)
        data = bytes(byte ^ mask[i % 4] for i, byte in enumerate(exchange.read(size)))
        kind = head[0] & 0x0f
        if kind == 8:
            return None
        if kind == 9:
            exchange.send(bytes([0x8a, len(data)]) + data)
        elif kind < 3:
            message += data
            if head[0] & 0x80:
                return message
    return None


def text_frame(data):
    size = bytes([len(data)]) if len(data) < 126 else b"\x7e" + len(data).to_bytes(2, "big")
    return b"\x81" + size + data


class Gemini(StandIn):
    """POST /v1beta/models/NAME:streamGenerateContent, for Gemini CLI."""

    def reply(self, exchange, request):
        target = exchange.request.target.split("?")[0]
        if not target.endswith(("GenerateContent", "generateContent")) or "contents" not in request:
            return False
        tools = [tool for group in request.get("tools") or [] for tool in group.get("functionDeclarations", [])]
        names = {tool.get("name") for tool in tools}
        call = None
        if "write_file" in names:
            parts = [part for content in request["contents"] for part in content.get("parts", [])]
            call = self.next_call(request, sum("functionResponse" in part for part in parts))
        part = {"text": DONE}
        if call and call.kind == "write":
            part = {"functionCall": {"name": "write_file", "args": {"file_path": call.path, "content": call.text}}}
        elif call:
            part = {"functionCall": {"name": "run_shell_command", "args": {"command": call.text}}}
        answer = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
                  "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
        if target.endswith("streamGenerateContent"):
            send_events(exchange, [("", answer)])
        else:
            send_json(exchange, answer)
        return True
