"""All checkers over one outcome."""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulation.checkers import assignments, ending, fencing, generations, offsets, sessions
from tests.simulation.checkers.reading import Reading
from tests.simulation.play import Outcome, run


def faults(outcome: Outcome) -> list[str]:
    """What is wrong with it, in words; nothing when all is well."""
    return [*outcome.broken, *_checked(outcome)]


def _checked(outcome: Outcome) -> Iterator[str]:
    reading = Reading(outcome.history, outcome.mirror.written())
    yield from generations.check_leaders(reading)
    yield from generations.check_rising(reading)
    yield from generations.check_used_once(reading)
    yield from generations.check_records(reading)
    yield from assignments.check_assignments(reading)
    yield from fencing.check_stale(reading)
    yield from fencing.check_nothing_written(reading)
    yield from sessions.check_living(reading)
    yield from sessions.check_dead(reading)
    yield from offsets.check_linearizable(reading)
    yield from offsets.check_committed(reading)
    yield from ending.check_answered(reading)
    yield from ending.check_converged(reading, outcome.config.live.group_max_size)
    yield from ending.check_emptied(reading)
    yield from ending.check_expired(reading)


def judge(seed: int, storm_s: int | None = None) -> list[str]:
    """Play a seed, and say what is wrong with it."""
    return faults(run(seed) if storm_s is None else run(seed, storm_s))
