"""The states of a transactional id, and which may follow which (Kafka's ``TransactionState``).

    EMPTY ──► ONGOING ──► PREPARE_COMMIT ──► COMPLETE_COMMIT ──► ONGOING, EMPTY, DEAD
                 └──────► PREPARE_ABORT ───► COMPLETE_ABORT ───► ONGOING, EMPTY, DEAD

With transactions of version 2 an abort of nothing also passes through PREPARE_ABORT: it gives the producer its next epoch.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final


class TransactionState(IntEnum):
    """The number is that of the log's records, ``label`` the name in answers to clients."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    """Only while the id is being forgotten. Never in the log."""
    PREPARE_EPOCH_FENCE = 7
    """Only while an older producer is being fenced. Never in the log."""

    @property
    def label(self) -> str:
        """Kafka's name, for example ``PrepareCommit``."""
        return "".join(word.title() for word in self.name.split("_"))


AT_REST: Final = frozenset({TransactionState.EMPTY, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT})
"""No transaction is open: the id may begin one, get an epoch, or expire."""
PREPARED: Final = frozenset({TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT})
"""The outcome is decided, and markers are being written."""
PREVIOUS: Final[Mapping[TransactionState, frozenset[TransactionState]]] = {
    TransactionState.EMPTY: AT_REST,
    TransactionState.ONGOING: AT_REST | {TransactionState.ONGOING},
    TransactionState.PREPARE_COMMIT: frozenset({TransactionState.ONGOING}),
    TransactionState.PREPARE_ABORT: AT_REST | {TransactionState.ONGOING},
    TransactionState.COMPLETE_COMMIT: frozenset({TransactionState.PREPARE_COMMIT}),
    TransactionState.COMPLETE_ABORT: frozenset({TransactionState.PREPARE_ABORT}),
}
"""The states that each state in the log may follow."""
