"""Every transcript turns out as it is written; ``--rewrite`` writes down how it turns out, for the diff to be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.transcript import played, rewrite, scenarios

FILES = sorted(Path(__file__).parent.glob("*.txt"))


@pytest.fixture(scope="module", autouse=True)
def _rewritten(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--rewrite"):
        for path in FILES:
            rewrite(path)


@pytest.mark.parametrize(
    ("path", "title"),
    [pytest.param(path, scenario.title, id=f"{path.stem}: {scenario.title}") for path in FILES for scenario in scenarios(path)],
)
def test_transcript(path: Path, title: str) -> None:
    """The shard does what the transcript says."""
    scenario = next(each for each in scenarios(path) if each.title == title)

    assert _without_blank_end(played(scenario)) == _without_blank_end(scenario.lines)


def test_titles_are_unique() -> None:
    """A rule is stated once per file."""
    for path in FILES:
        titles = [scenario.title for scenario in scenarios(path)]

        assert len(titles) == len(set(titles))


def _without_blank_end(lines: list[str]) -> list[str]:
    return "\n".join(lines).rstrip().splitlines()
