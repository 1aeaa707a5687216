"""Several nodes on one simulated shared store, with clients of all four families.

A seed plays groups of both protocols and their offsets, share groups, or producers with transactions. What must be true is what
these plays say: no two members own a partition, no member is put out that is there, no acknowledged offset is lost or
read as it was before, a transaction moves all of its groups or none, share partitions go on where they were.
``nodes_play.py`` has the nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from tests.simulation.consumers import ConsumersPlay
from tests.simulation.nodes_play import NodesPlay
from tests.simulation.shares import SharesPlay
from tests.simulation.transactions import TransactionPlay
from tests.support.mover import TOPIC


class ConsumersOfNodes(NodesPlay, ConsumersPlay):
    """Members of classic and consumer groups."""

    name = "nodes consumers"


class SharesOfNodes(NodesPlay, SharesPlay):
    """Members of share groups, and leaders of share partitions."""

    name = "nodes shares"


class TransactionsOfNodes(NodesPlay, TransactionPlay):
    """Producers with transactions over groups of different nodes."""

    name = "nodes transactions"
    topic = TOPIC


PLAYS: Final = (ConsumersOfNodes, SharesOfNodes, TransactionsOfNodes)


def play_of(seed: int) -> NodesPlay:
    """Return the play of a seed."""
    return PLAYS[seed % len(PLAYS)](seed)


def run(seed: int, mutate: Callable[[NodesPlay], None] = lambda _: None) -> list[str]:
    """Play the whole of it; what went wrong. The same seed is the same play."""
    play = play_of(seed)
    mutate(play)
    return play.run()


def told(seed: int) -> Iterator[str]:
    """Play it. Yield one line for each thing that happened, for people."""
    play = play_of(seed)
    play.run()
    yield from play.lines()
