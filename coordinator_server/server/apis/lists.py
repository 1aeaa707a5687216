"""Answers to requests about many things: at once if that is little work, otherwise in steps (``server/exchange/steps.py``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Steps, Work, in_portions
from coordinator_server.server.wire.quantum import QUANTUM

T = TypeVar("T")
A = TypeVar("A")
R = TypeVar("R")

UNITS_PER_STEP: Final = 1_000
"""The work of a step, about 2 ms. A unit is about a partition in an answer."""


class StepBudget:
    """Counts the work of steps, to say when each of them ends."""

    __slots__ = ("_left", "_units")

    def __init__(self, units: int = UNITS_PER_STEP) -> None:
        self._units = self._left = units

    def spend(self, units: int) -> bool:
        """Count units of work. Return whether the step ends here; the next one has its whole budget."""
        self._left -= units
        if self._left > 0:
            return False
        self._left = self._units
        return True


def _none_is_large(_item: object) -> None:
    return None


def answer_list(
    steps: Steps,
    reply: Exchange[R],
    items: Sequence[T],
    answer: Callable[[T], tuple[A, int]],
    respond: Callable[[list[A]], R],
    large: Callable[[T], Work[A] | None] = _none_is_large,
) -> None:
    """Answer each item, and complete the reply with the response. ``answer`` also returns the units of its work.

    If this is more than one step, it starts anew in steps: until then, only the request is kept. ``large`` returns the work of an
    item that is more than a step alone.
    """
    if not reply.is_large:
        answers = []
        left = UNITS_PER_STEP
        for item in items:
            if large(item) is None:
                found, units = answer(item)
                answers.append(found)
                left -= units
            else:
                left = -1
            if left < 0:
                reply.connection.use_up()
                break
        else:
            reply.connection.use_up((UNITS_PER_STEP - left) * QUANTUM // UNITS_PER_STEP)
            reply.complete(respond(answers))
            return
    steps.run(reply, _in_steps(items, answer, respond, large))


def _in_steps(
    items: Iterable[T],
    answer: Callable[[T], tuple[A, int]],
    respond: Callable[[list[A]], R],
    large: Callable[[T], Work[A] | None],
) -> Work[R]:
    answers = yield from each_in_steps(items, answer, large)
    return respond(answers)


def each_in_steps(
    items: Iterable[T], answer: Callable[[T], tuple[A, int]], large: Callable[[T], Work[A] | None] = _none_is_large
) -> Work[list[A]]:
    """Answer each item, in steps."""
    answers = []
    budget = StepBudget()
    for item in items:
        work = large(item)
        if work is not None:
            answers.append((yield from work))
            continue
        found, units = answer(item)
        answers.append(found)
        if budget.spend(units):
            yield
    return answers


def portions_in_steps(items: Iterable[T], size: int, answer: Callable[[list[T]], list[A]]) -> Work[list[A]]:
    """Answer the items in portions of ``size``, one a step. A portion may have any number of answers."""
    answers: list[A] = []
    for portion in in_portions(items, size):
        answers += answer(portion)
        yield
    return answers
