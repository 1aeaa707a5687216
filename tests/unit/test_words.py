"""Words of one kind of shard stay out of what all kinds are built on."""

from __future__ import annotations

import re
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
    },
}
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
        if (words := words_in(package, path.read_text()))
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
def test_other_words_are_not(line: str) -> None:
    assert not words_in("machine", line)


@pytest.mark.parametrize("package", BELOW_ANY_KIND)
def test_what_is_unavoidable_is_there(package: str) -> None:
    """An exception that nothing needs any more goes."""
    sources = "\n".join(path.read_text() for path in (SOURCES / package).rglob("*.py"))

    assert [each for each in UNAVOIDABLE[package] if not re.search(each, sources)] == []
