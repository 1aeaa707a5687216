"""ARCHITECTURE.md says where things are: each answer names at most three files, and what it names is in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.+) \|$", re.MULTILINE)
PLACE = re.compile(r"`([\w/.-]+\.(?:py|md|txt))` `([^`]+)`")


def answers() -> dict[int, tuple[str, list[tuple[str, str]]]]:
    """By number: the question, and the files with a name in each."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    section = text[text.index("## Where is") : text.index("## The rules of a shard")]
    return {int(number): (question, PLACE.findall(places)) for number, question, places in ROW.findall(section)}


@pytest.mark.parametrize("number", range(1, 17))
def test_an_answer_names_files_that_have_what_it_says(number: int) -> None:
    question, places = answers()[number]

    assert 1 <= len(places) <= 3, question
    for file, name in places:
        [path] = [path for path in (ROOT / file, ROOT / "coordinator_server" / file) if path.is_file()]
        assert name in path.read_text(), f"{question}: {name} is not in {file}"


def test_no_question_has_lost_its_answer() -> None:
    assert list(answers()) == list(range(1, 17))
