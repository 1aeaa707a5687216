"""Words of one kind of shard stay out of what all kinds are built on, and vague words out of docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "coordinator_server"
BELOW_ANY_KIND = ("machine", "runtime", "log")
OF_GROUPS = (
    "group", "member", "instance id", "generation", "assignment", "assignor", "consumer", "subscription", "oldest commit",
    "least expire",
)  # fmt: skip
# A line that has one of these is not looked at for the words that it stands for.
UNAVOIDABLE = {
    "machine": {
        r"type: ignore\[assignment\]": "mypy's name for an error",
        r"named capture group": "what a library says of an expression (machine/expressions.py)",
    },
    "runtime": {},
    "log": {
        r"generation": "of a journal's files: the format's own number (log/frames.py), in frames, journal, salvage",
        r"groups\.(data|index)": "names of files, which stay",
        r"members\.py|log\.members": "a module of NODES",
    },
}
# The members there are the nodes of a cluster.
NODES = ("log/members.py", "log/postgresql/membership.py")
_WORD = re.compile(rf"(?<![a-z])({'|'.join(word.replace(' ', '[ _]') for word in OF_GROUPS)})s?(?![a-z])", re.IGNORECASE)


def words_in(package: str, source: str) -> list[str]:
    """The words of groups in a source text, code and comments alike."""
    for each in UNAVOIDABLE[package]:
        source = re.sub(each, "", source, flags=re.IGNORECASE)
    return [found.group() for found in _WORD.finditer(source)]


@pytest.mark.parametrize("package", BELOW_ANY_KIND)
def test_no_words_of_groups_below_them(package: str) -> None:
    """Whatever holds for a group alone belongs to its own package: other kinds of shard use these as they are."""
    found = {
        str(path.relative_to(SOURCES)): words
        for path in sorted((SOURCES / package).rglob("*.py"))
        if str(path.relative_to(SOURCES)) not in NODES and (words := words_in(package, path.read_text()))
    }

    assert found == {}


@pytest.mark.parametrize(
    "line",
    [
        "member_id: str",
        "# the group's",
        "_GROUP_ID",
        "OLDEST_COMMIT_MS",
        "the members of",
        "group_instance_id",
        "oldest commit timestamp",
    ],
)
def test_words_are_found_wherever_they_stand(line: str) -> None:
    assert words_in("machine", line)


@pytest.mark.parametrize("line", ["remember", "GroupCoordinatorService", "x = []  # type: ignore[assignment]"])
def test_other_words_are_no_names_of_a_kind(line: str) -> None:
    assert not words_in("machine", line)


@pytest.mark.parametrize("package", BELOW_ANY_KIND)
def test_what_is_unavoidable_is_there(package: str) -> None:
    """An exception that nothing needs any more goes."""
    sources = "\n".join(path.read_text() for path in (SOURCES / package).rglob("*.py"))

    assert [each for each in UNAVOIDABLE[package] if not re.search(each, sources)] == []


# Each of these stood for many things: say notify, report, log, return, distinguish, change.
VAGUE = {
    "": r"news|told of|tells? of",
    "client": r"news|told|tells?",
    "config": r"news|told|tells?",
    "group": r"news|told|tells?|looks? at",
    "machine": r"news|told|tells?|looks? at",
    "offsets": r"news|told|tells?|looks? at",
    "runtime": r"news|told|tells?|looks? at",
    "security": r"news|told",
    "share": r"news|told|tells?",
    "transaction": r"news|told",
}


def docstrings(source: str) -> Iterator[str]:
    """The docstrings of a module, its classes, functions and attributes, without the names of code in them."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield re.sub(r"``.*?``", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("package", VAGUE)
def test_docstrings_have_no_vague_words(package: str) -> None:
    vague = re.compile(rf"\b({VAGUE[package]})\b", re.IGNORECASE)
    found = {
        str(path.relative_to(SOURCES)): words
        for path in sorted((SOURCES / package).rglob("*.py"))
        if (words := [word.group() for text in docstrings(path.read_text()) for word in vague.finditer(text)])
    }

    assert found == {}


def test_docstrings_are_found_without_names_of_code() -> None:
    source = '''"""Head."""
LIMIT = 1
"""Told to ``tell``."""
def tell() -> str:
    """A docstring."""
    return "news"
'''

    assert list(docstrings(source)) == ["Head.", "Told to .", "A docstring."]
