from __future__ import annotations

from pathlib import Path

from tests.mutation import equivalents

ROOT = Path(__file__).resolve().parents[2]


def test_every_judgement_is_about_code_that_exists() -> None:
    """An entry whose line has changed judges nothing: judge the new line, or remove it."""
    assert equivalents.unused(equivalents.load(), ROOT) == []
