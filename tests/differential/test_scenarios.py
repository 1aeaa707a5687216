"""The transcripts of tests/scenarios that a client could act out, acted out before both servers."""

from __future__ import annotations

import pytest

from tests.differential.playing import Stage, play
from tests.differential.scripts import Script, acted_out


@pytest.mark.parametrize("script", [pytest.param(script, id=script.title) for script in acted_out()])
def test_scenario(script: Script, stage: Stage) -> None:
    """Kafka says the same, step by step."""
    play(script, stage)
