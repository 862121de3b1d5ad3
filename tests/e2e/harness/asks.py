"""Requests that wait for a person's answer."""

import json

from .wait import until


def connect_head(host, port):
    return f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()


def hold(proxy, control, host, port, agent="alpha"):
    """(client, ask): a CONNECT that is held."""
    client = proxy.client(agent, seconds=30)
    before = held(control, host, port, agent)
    client.send(connect_head(host, port))
    until(lambda: held(control, host, port, agent) > before, 20, f"{host} to be held")
    return client, find(control, host, port, agent)


def find(control, host, port=None, agent="alpha"):
    """The open ask for a host, or None."""
    for ask in control.do("asks")["asks"]:
        if ask["agent"] == agent and ask["host"] == host and port in (None, ask["port"]):
            return ask
    return None


def held(control, host, port, agent="alpha"):
    ask = find(control, host, port, agent)
    return ask["held"] if ask else 0


def own_page(proxy, path="/v1/asks", agent="alpha", method="GET", body=None):
    """(status, JSON) of what an agent asks Stile itself."""
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = proxy.get(f"http://stile.internal{path}", agent, method=method, body=data)
    return answer.status, json.loads(answer.body)
