"""Control: one connection to the control socket, a JSON object a line each way."""

import json
import socket


class ControlError(Exception):
    def __init__(self, error):
        super().__init__(f"{error['code']}: {error['message']}")
        self.code, self.message = error["code"], error["message"]


class Control:
    def __init__(self, path, seconds=30):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(seconds)
        self.sock.connect(str(path))
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.sock.close()

    def send(self, action, descriptor=None, **fields):
        line = json.dumps({"action": action, **fields}).encode() + b"\n"
        if descriptor is None:
            self.sock.sendall(line)
        else:
            socket.send_fds(self.sock, [line], [descriptor])

    def read_line(self):
        """The next line without its newline; None: closed."""
        while b"\n" not in self.buffer:
            try:
                data = self.sock.recv(65536)
            except ConnectionError:
                data = b""
            if not data:
                return None
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line

    def read(self):
        line = self.read_line()
        return None if line is None else json.loads(line)

    def raw(self, data):
        """Bytes as they are; the answer as it is."""
        self.sock.sendall(data)
        return self.read()

    def ask(self, action, **fields):
        """The answer, whatever it is."""
        self.send(action, **fields)
        return self.read()

    def do(self, action, **fields):
        """The answer of a request that must succeed."""
        answer = self.ask(action, **fields)
        if not answer["ok"]:
            raise ControlError(answer["error"])
        return answer

    def refused(self, action, **fields):
        """The error of a request that must not succeed."""
        answer = self.ask(action, **fields)
        assert answer["ok"] is False, answer
        assert set(answer) == {"ok", "error"} and set(answer["error"]) - {"hint"} == {"code", "message"}
        return answer["error"]
