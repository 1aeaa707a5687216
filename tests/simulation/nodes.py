"""Several nodes on one simulated shared store, with clients of all families at the same time.

A seed plays groups of both protocols and their offsets, share groups, streams groups, and producers with transactions. What must be
true is what these plays say: no two members own a partition or an active task, no member is put out that is there, no acknowledged
offset is lost or read as it was before, a transaction moves all of its groups or none, share partitions go on where they were.
``nodes_play.py`` has the nodes, ``guests.py`` the families.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from coordinator_server.machine.errors import CoordinatorError
from tests.simulation.nodes_play import NodesPlay


def run(seed: int, mutate: Callable[[NodesPlay], None] = lambda _: None) -> list[str]:
    """Play the whole of it; what went wrong. The same seed is the same play. One that cannot go on has said why before."""
    play = NodesPlay(seed)
    mutate(play)
    try:
        return play.run()
    except (AssertionError, LookupError, CoordinatorError):
        if not play.broken:
            raise
        return play.broken


def told(seed: int) -> Iterator[str]:
    """Play it. Yield one line for each thing that happened, for people."""
    play = NodesPlay(seed)
    play.run()
    yield from play.lines()
