#!/usr/bin/python3
"""Draws docs/img/load.svg and docs/img/lists.svg from the newest results of each scenario."""

import argparse
import html
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOAD = ["connect", "refused", "get", "bulk-up-64", "bulk-down-64", "idle"]
LISTS = [("start", "ms_100000", "start with 100,000 rules"),
         ("start", "ms_1000000", "start with 1,000,000 rules"),
         ("reload", "max_ms", "slowest CONNECT during a reload of 100,000 rules")]

WIDTH, HEAD, BAR, GAP, LABEL, VALUE = 380, 38, 16, 6, 110, 60
STYLE = """
text { font: 12px sans-serif; fill: #222 } .title { font-weight: bold }
rect { fill: #9aa5b1 } .stile { fill: #2b7a4b } .floor { fill: #c9d1d9 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .floor { fill: #4a525b } }
"""


def newest(folder):
    """scenario -> its latest result; file names begin with the date."""
    results = {}
    for path in sorted(folder.glob("*.json")):
        result = json.loads(path.read_text())
        results[result["scenario"]] = result
    return results


def median(rounds, key):
    values = sorted(entry[key] for entry in rounds if entry.get(key) is not None)
    if not values:
        return None
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def panel(title, unit, values, x, y):
    """Bars, the shortest first; returns their SVG and their height."""
    parts = [f'<text class="title" x="{x}" y="{y + 14}">{html.escape(title)}</text>',
             f'<text x="{x}" y="{y + 30}">{html.escape(unit)}</text>']
    longest = max(values.values())
    room = WIDTH - LABEL - VALUE
    for row, (name, value) in enumerate(sorted(values.items(), key=lambda item: item[1])):
        top = y + HEAD + row * (BAR + GAP)
        kind = name.split("-")[0]
        parts += [
            f'<text x="{x}" y="{top + 12}">{html.escape(name)}</text>',
            f'<rect class="{kind}" x="{x + LABEL}" y="{top}" height="{BAR}" '
            f'width="{max(1, value / longest * room):.1f}"/>',
            f'<text x="{x + LABEL + value / longest * room + 5:.1f}" y="{top + 12}">'
            f'{number(value)}</text>']
    return parts, HEAD + len(values) * (BAR + GAP) + 16


def draw(panels, columns):
    """A grid of panels as one SVG."""
    parts, top = [], 10
    for begin in range(0, len(panels), columns):
        heights = []
        for column, (title, unit, values) in enumerate(panels[begin:begin + columns]):
            drawn, height = panel(title, unit, values, 10 + column * (WIDTH + 20), top)
            parts += drawn
            heights.append(height)
        top += max(heights)
    width = 20 + columns * (WIDTH + 20)
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" '
                      f'width="{width}" height="{top}">', f"<style>{STYLE}</style>", *parts,
                      "</svg>", ""])


def medians(result, key):
    values = {name: median(rounds, key) for name, rounds in result["rounds"].items()}
    return {name: value for name, value in values.items() if value is not None}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench/results")
    parser.add_argument("--images", type=pathlib.Path, default=ROOT / "docs/img")
    arguments = parser.parse_args()
    results = newest(arguments.results)
    load = [(results[name]["title"], results[name]["unit"],
             medians(results[name], results[name]["key"])) for name in LOAD if name in results]
    lists = [(title, "ms", medians(results[name], key)) for name, key, title in LISTS
             if name in results]
    arguments.images.mkdir(parents=True, exist_ok=True)
    for name, panels, columns in (("load", load, 2), ("lists", lists, 1)):
        panels = [one for one in panels if one[-1]]
        if panels:
            path = arguments.images / f"{name}.svg"
            path.write_text(draw(panels, columns))
            print(path)


if __name__ == "__main__":
    main()
