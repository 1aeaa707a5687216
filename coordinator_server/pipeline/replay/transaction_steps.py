"""The steps of a transactional id.

``in_runs`` makes one step of transactions that follow each other and differ in nothing but time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from coordinator_server.pipeline.states.changes import Change
from protocol.record_batch import NO_PRODUCER_ID

BEGUN: Final = "begun"
PARTITIONS_ADDED: Final = "partitions added"
COMMIT_DECIDED: Final = "commit decided"
COMMITTED: Final = "committed"
RUN: Final = "transactions committed"
MOST_APART: Final = 3
"""The number of committed transactions in a run whose steps are shown; of more there is one step."""
_BETWEEN: Final = frozenset({PARTITIONS_ADDED, COMMIT_DECIDED})


class Step(Struct, omit_defaults=True):
    """One change of a transactional id. ``groups`` are those that have written in the transaction so far.

    Of a run: the number of transactions, the time of the last end, and how long the longest one was open.
    """

    at_ms: int
    what: str
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = -1
    partitions: list[str] = []
    groups: list[str] = []
    why: str = ""
    by: Change | None = None
    transactions: int = 0
    until_ms: int | None = None
    longest_ms: int | None = None


def in_runs(steps: Iterable[Step]) -> Iterator[Step]:
    """Return the steps, with one for each run of more than MOST_APART committed transactions of one client and the same groups."""
    run = _Run()
    going_on: list[Step] = []
    for step in steps:
        going_on.append(step)
        if going_on[0].what == BEGUN and (len(going_on) == 1 or step.what in _BETWEEN):
            continue
        if going_on[0].what == BEGUN and step.what == COMMITTED:
            if not run.take(going_on):
                yield from run.end()
                run.take(going_on)
        else:
            yield from run.end()
            yield from going_on
        going_on = []
    yield from run.end()
    yield from going_on


class _Run:
    """Committed transactions that follow each other."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._first: list[Step] = []
        self._count = 0
        self._longest_ms = 0
        self._last: Step | None = None

    def take(self, transaction: list[Step]) -> bool:
        """Add a transaction, from its first step to its last; return False if it is not like those before."""
        begun, ended = transaction[0], transaction[-1]
        who = None if begun.by is None else (begun.by.client_id, begun.by.client_host, begun.by.principal)
        key = begun.producer_id, who, *transaction[-2].groups
        if self._count and key != self._key:
            return False
        self._key = key
        if self._count < MOST_APART:
            self._first += transaction
        self._count += 1
        self._longest_ms = max(self._longest_ms, ended.at_ms - begun.at_ms)
        self._last = replace(ended, groups=transaction[-2].groups)
        return True

    def end(self) -> list[Step]:
        """End the run. Return the steps of its transactions if they are few, or one step for all."""
        steps, count, last = self._first, self._count, self._last
        if count > MOST_APART and last is not None:
            run = replace(last, at_ms=steps[0].at_ms, what=RUN, partitions=steps[0].partitions, by=steps[0].by)
            steps = [replace(run, transactions=count, until_ms=last.at_ms, longest_ms=self._longest_ms)]
        self._key, self._first, self._count, self._longest_ms, self._last = (), [], 0, 0, None
        return steps
