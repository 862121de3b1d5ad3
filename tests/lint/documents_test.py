"""Links between documents lead somewhere, and from the README one gets everywhere."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
DOCUMENTS = [*PAGES, *sorted((ROOT / "deploy").rglob("*.md")), *sorted((ROOT / "tests").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")


def links(document):
    """(file, anchor or "") of each link that stays in the repository."""
    for path, anchor in LINK.findall(document.read_text()):
        if "://" not in path:
            yield (document.parent / path).resolve() if path else document, anchor


def anchors(document):
    """What the headings of a page can be reached by, as forges make it of them."""
    text = re.sub(r"^```.*?^```", "", document.read_text(), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_links_lead_to_a_file_and_a_heading(document):
    for target, anchor in links(document):
        assert target.exists(), target
        assert not anchor or anchor in anchors(target), f"{target.name}#{anchor}"


def test_every_page_can_be_reached_from_the_readme():
    reached = [ROOT / "README.md"]
    for page in reached:
        reached += [target for target, _ in links(page)
                    if target.suffix == ".md" and target not in reached]
    assert set(PAGES) <= set(reached), set(PAGES) - set(reached)


def test_every_reason_is_explained():
    """A reason that a client can see is in the page that tells what to do about it."""
    source = (ROOT / "acl" / "decision.cc").read_text()
    reasons = set(re.findall(r'{Reason::\w+, "([a-z-]+)"', source)) - {"none"}
    assert len(reasons) > 20
    explained = set(re.findall(r"`([a-z-]+)`", (ROOT / "docs/troubleshooting.md").read_text()))
    assert reasons <= explained, reasons - explained


def test_tests_that_the_threat_model_names_exist():
    text = (ROOT / "docs" / "threat-model.md").read_text()
    named = re.findall(r"`(tests/[\w./-]+?)(?:::(\w+))?`", text)
    assert len(named) > 50
    for path, name in named:
        assert (ROOT / path).is_file(), path
        assert not name or f"def {name}(" in (ROOT / path).read_text(), f"{path}::{name}"
