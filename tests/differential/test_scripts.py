"""The named scripts: Kafka says the same, step by step."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import pytest

from tests.differential.playing import Stage, play
from tests.differential.scripts import RESTART, Script, scripts_of

if TYPE_CHECKING:
    from tests.differential.conftest import Halves, Played

PLAIN = ("configs", "errors", "finding", "listing", "offsets", "rebalance", "static", "topics", "versions")


def named(*names: str) -> pytest.MarkDecorator:
    scripts = chain.from_iterable(map(scripts_of, names))
    return pytest.mark.parametrize("script", [pytest.param(script, id=script.title) for script in scripts])


@named(*PLAIN)
def test_script(script: Script, stage: Stage, timed: Played) -> None:
    """Both servers answer the same requests, with the same answers."""
    play(script, stage)


@named("timing")
def test_timed_script(script: Script, timed: Played) -> None:
    """The same where time decides."""
    timed.result(script)


@named(RESTART)
def test_restart(script: Script, halves: Halves) -> None:
    """The same after both were started again."""
    halves.finish(script)


@named("limits")
def test_limited_script(script: Script, limited: Played) -> None:
    """The same with other limits."""
    limited.result(script)
