"""Metrics: the text exposition read back as {(name, labels): value}."""

import re
import urllib.request

_SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')


class Metrics:
    def __init__(self, text):
        self.text = text
        self.samples = {}
        for line in text.splitlines():
            if line and not line.startswith("#"):
                name, labels, value = _SAMPLE.match(line).groups()
                self.samples[name, frozenset(_LABEL.findall(labels or ""))] = float(value)

    def names(self):
        return {name for name, _ in self.samples}

    def series(self, name):
        """[(labels, value)] of one metric."""
        return [(dict(labels), value) for (n, labels), value in self.samples.items() if n == name]

    def total(self, name, **labels):
        """Sum over the series that carry these labels."""
        wanted = set(labels.items())
        return sum(value for (n, have), value in self.samples.items()
                   if n == name and wanted <= have)


def http_get(address, path, seconds=10):
    """(status, body, content type) of a plain GET that no proxy variable can divert."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://{address}{path}", timeout=seconds) as answer:
            return answer.status, answer.read().decode(), answer.headers.get("Content-Type")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers.get("Content-Type")
