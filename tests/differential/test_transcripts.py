"""The transcripts of tests/scenarios that a client could act out, acted out before both servers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.differential.scripts import Script, Servers, play
from tests.scenarios.transcript import Scenario, scenarios

SCENARIOS: Final = Path(__file__).parents[1] / "scenarios"
# What only a test on a shard can do, and what takes time.
_NOT_A_CLIENT: Final = {"wait", "jump", "hold", "flush", "release", "fail", "restart", "unload", "why", "expiring"}


# The listed differences that a transcript shows.
_DIFFERS: Final[dict[str, frozenset[int]]] = {
    "deletion: so does one whose members are about to be known to the log": frozenset({25}),
    "join: a protocol that a member names twice counts once, with the metadata of the first": frozenset({14}),
    "join: a second join of the same member is the one that is answered when the phase is over": frozenset({1}),
    "leave: one that waits for its assignment and leaves is told that it is unknown": frozenset({2}),
}


def inputs(scenario: Scenario) -> list[str]:
    return [line[2:] for line in scenario.lines if line.startswith("> ")]


def playable() -> Iterator[Script]:
    for path in sorted(SCENARIOS.glob("*.txt")):
        for scenario in scenarios(path):
            lines = inputs(scenario)
            is_plain = not any(line.startswith("config ") for line in scenario.lines)
            if is_plain and lines and not _NOT_A_CLIENT & {line.split()[0] for line in lines}:
                title = f"{path.stem}: {scenario.title}"
                yield Script(title, lines, _DIFFERS.get(title, frozenset()))


@pytest.mark.parametrize("script", [pytest.param(script, id=script.title) for script in playable()])
def test_transcript(script: Script, servers: Servers) -> None:
    """Kafka says the same, step by step."""
    play(script, servers)
