"""The table of docs/compatibility.md: read, compared, written."""

from dataclasses import astuple, dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/compatibility.md"
BEGIN, END = "<!-- matrix: written by tests/compat -->", "<!-- end -->"
HEAD = ["client", "version", "what", "allowed host", "captured", "refusal tells", "what its user sees"]


@dataclass
class Row:
    client: str
    version: str
    what: str
    allowed: str
    captured: str
    told: str
    sees: str

    @property
    def name(self):
        return f"{self.client}: {self.what}"

    def verdict(self):
        """What must not change unnoticed; versions and wordings may."""
        return self.allowed, self.captured, self.told

    def line(self):
        return "| " + " | ".join(astuple(self)) + " |"


def read():
    """{name: Row} of the page as it is."""
    _, _, rest = PAGE.read_text().partition(BEGIN)
    lines = [line for line in rest.partition(END)[0].splitlines() if line.startswith("| ")][1:]
    rows = [Row(*(cell.strip() for cell in line.strip("|").split(" | "))) for line in lines]
    return {row.name: row for row in rows}


def write(rows):
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    head = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    table = "\n".join(head + [row.line() for row in rows])
    PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}")
