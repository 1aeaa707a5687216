"""What timeline containers cost beside the builtins they stand for.

    python -m bench.timeline [--rounds 7]

Nanoseconds for each operation and how many times the builtin's that is: medians of rounds in which all take turns. A snapshot is
open while records are on their way to the disk; *noted* is a write to a key that the newest snapshot knows already,
*first* one to a key that it does not.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict, TimelineValue

KEYS: Final = [("topic", number) for number in range(2000)]
REPEAT: Final = 50


def write(container: Any) -> None:
    for key in KEYS:
        container[key] = key


def read(container: Any) -> None:
    get = container.get
    for key in KEYS:
        get(key)


class Plain:
    """An attribute."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: object = None


def assign(container: Any) -> None:
    for key in KEYS:
        container.value = key


def set_value(container: Any) -> None:
    put = container.set
    for key in KEYS:
        put(key)


def no_snapshot() -> SnapshotRegistry:
    return SnapshotRegistry()


def open_snapshot() -> SnapshotRegistry:
    registry = SnapshotRegistry()
    registry.snapshot(1)
    return registry


Case = tuple[str, Callable[[], Any], Callable[[Any], None], bool]

# What, how to make it, what to do, whether to make it anew for each pass. The first of each table is the builtin.
TABLES: Final[list[list[Case]]] = [
    [
        ("dict: write", dict, write, False),
        ("TimelineDict: write, no snapshot", lambda: TimelineDict(no_snapshot()), write, False),
        ("TimelineDict: write, noted", lambda: TimelineDict(open_snapshot()), write, False),
    ],
    [
        ("dict: first write", dict, write, True),
        ("TimelineDict: first write, no snapshot", lambda: TimelineDict(no_snapshot()), write, True),
        ("TimelineDict: first write, open snapshot", lambda: TimelineDict(open_snapshot()), write, True),
    ],
    [("dict: get", dict, read, False), ("TimelineDict: get", lambda: TimelineDict(no_snapshot()), read, False)],
    [
        ("attribute: assign", Plain, assign, False),
        ("TimelineValue: set, no snapshot", lambda: TimelineValue(no_snapshot(), None), set_value, False),
        ("TimelineValue: set, open snapshot", lambda: TimelineValue(open_snapshot(), None), set_value, False),
    ],
]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.timeline", description="What timeline containers cost beside builtins."
    )
    parser.add_argument("--rounds", type=int, default=7, help="how often each is measured (7)")
    rounds = parser.parse_args().rounds
    print(f"{'':42} {'ns':>7} {'ratio':>6}")
    for table in TABLES:
        figures: dict[str, list[float]] = {case[0]: [] for case in table}
        for _ in range(rounds):
            for case in table:
                figures[case[0]].append(_nanoseconds(*case[1:]))
        medians = {name: statistics.median(figure) for name, figure in figures.items()}
        builtin = next(iter(medians.values()))
        for name, median in medians.items():
            print(f"{name:42} {median:7.0f} {median / builtin:6.2f}")


def _nanoseconds(make: Callable[[], Any], operation: Callable[[Any], None], is_fresh: bool) -> float:
    containers = iter([make() for _ in range(REPEAT)]) if is_fresh else _same(make())
    if not is_fresh:
        operation(next(containers))
    gc.disable()
    started = time.perf_counter_ns()
    for _ in range(REPEAT):
        operation(next(containers))
    spent = time.perf_counter_ns() - started
    gc.enable()
    return spent / REPEAT / len(KEYS)


def _same(container: Any) -> Iterator[Any]:
    while True:
        yield container


if __name__ == "__main__":
    main()
