"""Judging a row: by the answers, by what reached origins and DNS, and by the audit log."""

from dataclasses import dataclass

from harness.wait import until


@dataclass
class Stage:
    """The witnesses of one run: the origins, the DNS server, and where requests go to."""

    good: object
    evil: object
    tunnel: object
    dns: object

    def fill_in(self, raw):
        good = b"good.test:%d" % self.good.port
        return (raw.replace(b"@GOOD@", good).replace(b"@EVIL@", b"evil.test:%d" % self.good.port)
                .replace(b"@TUNNEL@", b"tunnel.test:%d" % self.tunnel.port)
                .replace(b"@PORT@", b"%d" % self.good.port)
                .replace(b"@TLSPORT@", b"%d" % self.tunnel.port))

    def mark(self):
        return len(self.good.requests), len(self.tunnel.connections)


def read_answers(client, is_head=False):
    """What the client takes for answers, in words: "ok", a reason, or what else came."""
    answers = []
    while True:
        head = client.read_head()
        if head is None:
            if client.buffer:
                answers.append(f"bytes {bytes(client.buffer)!r}")
            return tuple(answers)
        status, _, _, headers, _ = head
        names = {name.lower(): value for name, value in headers}
        if status == 200 and not {"content-length", "transfer-encoding"} & set(names):
            client.recv_to_end()
            return (*answers, "tunnel")
        method = "HEAD" if is_head and not answers else "GET"
        body, _ = client.read_body(method, status, headers)
        if "x-stile-reason" in names:
            answers.append(names["x-stile-reason"])
        else:
            answers.append("ok" if status == 200 and body in (b"ok", b"") else f"status {status}")


def problems(case, stage, mark, answers):
    """Everything that is wrong with how this row went; empty if nothing is."""
    found = []
    if answers not in case.accepted:
        found.append(f"answered {answers}, right is one of {case.accepted}")
    requests, tunnels = mark
    seen = stage.good.requests[requests:]
    until(lambda: all(request.complete is not None or request.extra["conn"].closed.is_set()
                      for request in seen), 10, "the end of a body")
    whole = [request.target for request in seen if request.complete]
    paths = {stage.fill_in(path.encode()).decode() for path in case.paths}
    if len(whole) != answers.count("ok") or not set(whole) <= paths:
        found.append(f"the good origin got {whole}")
    if len(whole) < len(seen) and not case.unfinished:
        found.append("an unfinished request reached the good origin")
    raw = b"".join(request.raw_head + request.raw_body for request in seen)
    if b"secret-word" in raw:
        found.append("what has to stay here reached the good origin")
    if stage.evil.connections:
        found.append("the evil origin was dialled")
    if any(bytes(conn.received) for conn in stage.tunnel.connections[tunnels:]):
        found.append("bytes reached the tunnel's origin")
    if any("evil" in name for name in stage.dns.names_asked()):
        found.append("an evil name was looked up")
    return found


def log_problems(lines, answers):
    """One decision, one line: `lines` are those of this connection."""
    decisions = [line for line in lines if line["event"] in ("open", "deny")]
    expected = ["open" if answer == "ok" else answer for answer in answers if answer != "tunnel"]
    told = ["open" if line["event"] == "open" else line["reason"] for line in decisions]
    if "tunnel" in answers:
        told = [word for word in told if word not in ("not-tls", "client-hello-timeout")]
    if not answers:  # cut within a body: it was opened, and its end says why
        is_told = any(line.get("reason") == "bad-request" for line in lines)
        return [] if is_told else [f"log says {told} for a request that was cut"]
    cut = [line["reason"] for line in lines
           if line["event"] == "close" and line.get("verdict") == "deny"]
    if told == expected or told + cut == ["open", *expected]:  # opened, then cut within its body
        return []
    return [f"log says {told} for {expected}"]
