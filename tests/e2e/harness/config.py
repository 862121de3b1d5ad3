"""stile.toml written from plain dictionaries."""

import json


def toml(settings):
    """`settings`: {section: {key: value}}; a list under "agent" becomes [[agent]] entries."""
    lines = []
    for section, content in settings.items():
        if isinstance(content, list):
            for entry in content:
                lines += ["", f"[[{section}]]"] + _pairs(entry)
        else:
            lines += ["", f"[{section}]"] + _pairs(content)
    return "\n".join(lines).lstrip() + "\n"


def _pairs(table):
    return [f"{key} = {value(item)}" for key, item in table.items()]


class Bare(str):
    """A value that is written as it is: a date, a number in another base."""


def value(item):
    if isinstance(item, Bare):
        return str(item)
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, (int, str)):
        return json.dumps(item)
    if isinstance(item, (list, tuple)):
        return "[" + ", ".join(value(part) for part in item) + "]"
    if isinstance(item, dict):
        return "{" + ", ".join(f"{key} = {value(part)}" for key, part in item.items()) + "}"
    raise TypeError(f"no TOML for {item!r}")
