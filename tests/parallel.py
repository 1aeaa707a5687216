"""Which process runs which test, when pytest-xdist has several of them (``-n``).

A file is the unit: its tests run one after the other in one process, so that fixtures of a module or a session start once for it.
What shares something that is dear to start (ALONE) is one unit together. A process that is about to finish takes the next unit;
long ones begin first, so that no process ends long after the others. A process that dies fails the test that it was in the middle
of, and that one is not run again; what it had still to do, others do.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Final

import pytest

# Directories whose tests all run in one process: one Spark session, and never several clusters at a time.
ALONE: Final = ("tests/spark",)
# What takes longest, by directory or file, in the order in which it begins. What is not named here begins after it.
LONGEST_FIRST: Final = (
    "tests/spark",
    "tests/simulation/test_seeds.py",
    "tests/interop/test_kafka_import.py",
    "tests/property/test_protocol.py",
    "tests/integration",
    "tests/interop",
    "tests/differential",
    "tests/storm",
    "tests/property",
    "tests/simulation",
    "tests/unit/pipeline",
    "tests/unit/protocol/test_codec.py",
)


def processes() -> int:
    """How many processes ``-n auto`` starts: more than there are cores, since many tests wait."""
    cores = len(os.sched_getaffinity(0))
    return cores + max(2, cores // 2)


def unit_of(nodeid: str) -> str:
    """What runs in one process."""
    path = nodeid.partition("::")[0]
    return next((directory for directory in ALONE if path.startswith(f"{directory}/")), path)


def in_order(units: Iterable[str]) -> list[str]:
    """The units in the order in which they begin."""
    return sorted(units, key=_rank)


def _rank(unit: str) -> int:
    places = (place for place, prefix in enumerate(LONGEST_FIRST) if f"{unit}/".startswith(f"{prefix}/"))
    return next(places, len(LONGEST_FIRST))


class UnitScheduling:
    """xdist's ``Scheduling``: tests are known by their place in the collection, which is the same in all processes."""

    def __init__(self, config: pytest.Config) -> None:
        self._expected: int = config.option.numprocesses or len(config.option.tx)
        self._collections: dict[Any, list[str]] = {}
        self._collection: list[str] = []
        self._units: deque[list[int]] = deque()
        self._is_begun = False
        # Of each process, what it has been sent and has not done yet, in order.
        self._pending: dict[Any, deque[int]] = {}

    # --- what xdist asks

    @property
    def nodes(self) -> list[Any]:
        return list(self._pending)

    @property
    def collection_is_completed(self) -> bool:
        return self._is_begun or len(self._collections) >= self._expected

    @property
    def tests_finished(self) -> bool:
        """Nothing is left to give out: each process has one test at most, the last one."""
        return self._is_begun and not self._units and all(len(pending) < 2 for pending in self._pending.values())

    @property
    def has_pending(self) -> bool:
        return bool(self._units) or any(self._pending.values())

    # --- what xdist tells

    def add_node(self, node: Any) -> None:
        self._pending[node] = deque()

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        self._collections[node] = list(collection)

    def schedule(self) -> None:
        """All have collected, or one that takes a dead one's place has."""
        if not self._is_begun:
            self._begin()
        for node in self.nodes:
            self._give(node)

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        self._pending[node].remove(item_index)
        self._give(node)

    def remove_node(self, node: Any) -> str | None:
        """The process has ended; the test that it was running, if it died of it."""
        pending = self._pending.pop(node)
        if not pending:
            return None
        died_of = pending.popleft()
        if pending:
            self._units.appendleft(list(pending))
        for each in self.nodes:
            self._give(each)
        return self._collection[died_of]

    def mark_test_pending(self, item: str) -> None:
        raise NotImplementedError("nothing is run again")

    def remove_pending_tests_from_node(self, node: Any, indices: Sequence[int]) -> None:
        raise NotImplementedError("nothing is taken back")

    # --- how they are given out

    def _begin(self) -> None:
        self._is_begun = True
        first, *others = self._collections.values()
        if any(other != first for other in others):
            raise RuntimeError("the processes have collected different tests: are parameters drawn, or taken from a set?")
        self._collection = first
        units: dict[str, list[int]] = {}
        for place, nodeid in enumerate(first):
            units.setdefault(unit_of(nodeid), []).append(place)
        self._units.extend(units[name] for name in in_order(units))

    def _give(self, node: Any) -> None:
        """A process runs its last test only when it knows what comes after it."""
        if node not in self._collections or node.shutting_down:
            return
        while self._units and len(self._pending[node]) < 2:
            unit = self._units.popleft()
            self._pending[node].extend(unit)
            node.send_runtest_some(unit)
        if not self._units and len(self._pending[node]) < 2:
            node.shutdown()
