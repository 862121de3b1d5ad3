"""StandInApi: answers as the APIs of models do, with what the test says; keeps the requests.

As a program, for a machine of its own: stand_in_api.py ADDRESS PORT ANSWERS.json REQUESTS.jsonl [CERTIFICATE KEY]
"""

import http.server
import json
import ssl
import sys
import threading


class StandInApi:
    """Each answer is a text, or a tool call as (name, arguments). After the last one: "done". `tls`: certificate and key."""

    def __init__(self, answers=(), address="127.0.0.1", port=0, on_request=lambda request: None, tls=()):
        self.answers, self.requests, self.on_request = list(answers), [], on_request
        handler = type("Handler", (_Handler,), {"api": self})
        self.server = http.server.ThreadingHTTPServer((address, port), handler)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"http://{address}:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def next_answer(self):
        return self.answers.pop(0) if self.answers else "done"

    def tool_names(self):
        names = set()
        for request in self.requests:
            for tool in request.get("tools", []):
                names.add(tool.get("name") or tool.get("function", {}).get("name"))
        return names


def anthropic_events(answer):
    if isinstance(answer, str):
        start, delta, reason = {"type": "text", "text": ""}, {"type": "text_delta", "text": answer}, "end_turn"
    else:
        start = {"type": "tool_use", "id": f"toolu_{abs(hash(str(answer)))}", "name": answer[0], "input": {}}
        delta, reason = {"type": "input_json_delta", "partial_json": json.dumps(answer[1])}, "tool_use"
    usage = {"input_tokens": 1, "output_tokens": 1}
    yield {"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
                                                "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}}
    yield {"type": "content_block_start", "index": 0, "content_block": start}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
    yield {"type": "message_stop"}


def openai_events(answer):
    common = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    delta, reason = {"content": answer}, "stop"
    if not isinstance(answer, str):
        function = {"name": answer[0], "arguments": json.dumps(answer[1])}
        call = {"index": 0, "id": f"call_{abs(hash(str(answer)))}", "type": "function", "function": function}
        delta, reason = {"tool_calls": [call]}, "tool_calls"
    yield {**common, "choices": [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}]}
    yield {**common, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}],
           "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if "messages" not in body or "count_tokens" in self.path:
            return self.answer(b'{"input_tokens":1}', "application/json")
        # Requests without tools are those for a title or a summary.
        answer = self.api.next_answer() if body.get("tools") else "title"
        body["headers"] = {name.lower(): value for name, value in self.headers.items()}
        self.api.requests.append(body)
        self.api.on_request(body)
        if "/chat/completions" in self.path:
            events = [f"data: {json.dumps(event)}\n\n" for event in openai_events(answer)] + ["data: [DONE]\n\n"]
        else:
            events = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in anthropic_events(answer)]
        return self.answer("".join(events).encode(), "text/event-stream")

    def do_GET(self):
        self.answer(b"{}", "application/json")

    do_HEAD = do_GET

    def answer(self, data, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_):
        pass


def main(address, port, answers, requests, *tls):
    with open(answers) as script, open(requests, "a") as log:
        api = StandInApi(json.load(script), address, int(port), lambda body: print(json.dumps(body), file=log, flush=True), tls)
        print(api.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
