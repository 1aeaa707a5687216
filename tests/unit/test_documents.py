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


def test_the_index_of_decisions_has_every_page_under_its_title() -> None:
    """Each page has a number of its own, its title as head, and one line in the index."""
    pages = sorted(DECISIONS.glob("[0-9]*.md"), key=lambda path: int(path.name.partition("-")[0]))
    index = (DECISIONS / "README.md").read_text()

    for number, path in enumerate(pages, 1):
        head = path.read_text().splitlines()[0]
        assert path.name.startswith(f"{number:02d}-")
        assert head.startswith(f"# {number}. ")
        assert index.count(f"- [{head[2:]}]({path.name})\n") == 1


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
