"""The documents: links lead somewhere, and the index of decisions has every page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DECISIONS = ROOT / "docs/decisions"
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "bench/*.md", "tests/**/*.md", "deploy/*.md", "examples/**/*.md")
    for path in ROOT.glob(pattern)
    if ".venv" not in path.parts
)
MODULES = [
    str(path.relative_to(ROOT))
    for room in ("coordinator_server", "protocol", "tests", "bench", "scripts")
    for path in ROOT.glob(f"{room}/**/*.py")
]
MODULE = re.compile(r"`([\w./-]+\.py)\b")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
DECISION = re.compile(r"^## (\d+\. .*)$", re.MULTILINE)
ANCHORED = re.compile(r"\]\(([^)#\s]*)#([^)\s]+)\)")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_to_a_file_leads_to_one(document: Path) -> None:
    """A page that was renamed or removed is found by whoever linked to it."""
    links = [link for link in LINK.findall(document.read_text()) if "://" not in link]

    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_that_a_document_names_exists(document: Path) -> None:
    """A file that is moved or renamed is found here: ``log/meta.py`` and ``meta.py`` name one,
    ``../unit/test_words.py`` is relative.
    """
    named = MODULE.findall(document.read_text())

    assert [
        each
        for each in named
        if not (
            (document.parent / each).exists()
            if each.startswith("../")
            else any(f"/{path}".endswith(f"/{each}") for path in MODULES)
        )
    ] == []


def test_every_link_to_a_heading_leads_to_one() -> None:
    """A section that was renamed or moved is found by whoever linked to it."""
    headings = {path: {_anchor(head) for head in HEADING.findall(path.read_text())} for path in DOCUMENTS}

    assert [
        f"{document.relative_to(ROOT)}: {link}#{anchor}"
        for document in DOCUMENTS
        for link, anchor in ANCHORED.findall(document.read_text())
        if "://" not in link and anchor not in headings.get((document.parent / link).resolve() if link else document, {anchor})
    ] == []


def test_the_index_of_decisions_has_each_under_its_theme() -> None:
    """Each decision has a number of its own, a theme, and one line in the index, in the order of the theme's page."""
    index = (DECISIONS / "README.md").read_text()
    pages = sorted(path for path in DECISIONS.glob("*.md") if path.name != "README.md")
    decisions = [(path, head) for path in pages for head in DECISION.findall(path.read_text())]
    numbers = [head.partition(".")[0] for _, head in decisions]

    assert len(set(numbers)) == len(numbers)
    for path in pages:
        lines = [f"- [{head}]({path.name}#{_anchor(head)})" for of, head in decisions if of == path]
        assert f"]({path.name})\n\n" + "\n".join(lines) + "\n" in index
    assert index.count("\n- [") == len(decisions)


def _anchor(head: str) -> str:
    """What hosting sites make of a heading."""
    return re.sub(r"[^\w\- ]", "", head.replace("`", "").strip().lower()).replace(" ", "-")


def test_the_map_of_the_tests_has_every_package_and_only_what_is_there() -> None:
    """A package, or a room of ``server`` and ``group``, has a row of its own;
    a test file or directory that the map names exists.
    """
    text = (ROOT / "tests/README.md").read_text()
    rows = {row.split("|")[1].strip(" `"): row for row in text.splitlines() if row.startswith("| `")}
    packages = {
        str(path.parent.relative_to(ROOT))
        for pattern in (
            "coordinator_server/*/__init__.py",
            "coordinator_server/group/*/__init__.py",
            "coordinator_server/server/*/__init__.py",
        )
        for path in ROOT.glob(pattern)
    }
    named = [
        each for each in re.findall(r"`([\w/]+(?:\.py|\.txt)?)`", text) if "coordinator_server" not in each and each != "protocol"
    ]
    inside = ["", "scenarios", "property"]

    assert packages | {"protocol"} <= set(rows)
    assert [each for each in named if not any((ROOT / "tests" / room / each).exists() for room in inside)] == []
