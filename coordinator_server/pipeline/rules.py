"""How the pipeline compacts, replays and digests the log of each kind: one row per internal topic, as in ``kinds.py``.

A test proves that every kind has a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol

from msgspec import Struct

from coordinator_server.catalog.fold import CatalogFold
from coordinator_server.kinds import CATALOG, GROUPS, SHARE_STATE, TRANSACTIONS, Kind, topic_of
from coordinator_server.log.jobs import LayerAttempt
from coordinator_server.pipeline.layer.checkpoint import Read, add_checkpoint
from coordinator_server.pipeline.states.catalog import CatalogState
from coordinator_server.pipeline.states.groups import GroupState
from coordinator_server.pipeline.states.share import ShareState
from coordinator_server.pipeline.states.state import State
from coordinator_server.pipeline.states.transactions import TransactionalIdsState
from coordinator_server.share.fold import ShareFold
from protocol.coordinator_records import LEGACY_OFFSET_COMMIT_TYPE, OFFSET_COMMIT_TYPE, CoordinatorRecord


class Keyed(Struct, frozen=True):
    """Compaction keeps the last record of every key.

    A key's first two bytes are its record type. ``aliases`` maps a record type to the type whose keys name the same things.
    Records of ``pending_types`` count only once their transaction is committed; a log without such types has no transactions.
    """

    aliases: Mapping[bytes, bytes] = {}
    pending_types: frozenset[bytes] = frozenset()


class Fold(Protocol):
    """Reduces a log to fewer records that replay to the same state."""

    def add(self, offset: int, record: CoordinatorRecord, /) -> None:
        """Replay one record, and note its offset."""

    def records(self) -> Iterator[tuple[int, CoordinatorRecord]]:
        """Return the records to keep, in any order. Each has the offset of a record that it replaces; offsets are unique."""


class Folded(Struct, frozen=True):
    """Compaction keeps the records that a fold returns. ``fold`` makes one from an empty state of the kind."""

    fold: Callable[[Any], Fold]


class Rule(Struct, frozen=True):
    """The row of one kind.

    ``state`` makes an empty state to replay into. ``checkpoint`` takes a layer attempt, its number of records, and how to
    read it; it adds a checkpoint, and it returns the reason if there can be none, otherwise an empty string. ``tables`` are the
    history tables made from this log.
    ``is_exported`` is true if a Kafka broker keeps the same records in the topic of the same name.
    """

    kind: Kind
    state: Callable[[], State]
    compaction: Keyed | Folded
    checkpoint: Callable[[LayerAttempt, int, Read], str] | None = None
    tables: frozenset[str] = frozenset()
    is_exported: bool = False


GROUP_RECORDS: Final = Keyed({LEGACY_OFFSET_COMMIT_TYPE: OFFSET_COMMIT_TYPE}, frozenset({OFFSET_COMMIT_TYPE}))

RULES: Final[dict[str, Rule]] = {
    rule.kind.topic: rule
    for rule in (
        Rule(CATALOG, CatalogState, Folded(lambda state: CatalogFold(state.shard))),
        Rule(
            GROUPS,
            GroupState,
            GROUP_RECORDS,
            checkpoint=add_checkpoint,
            tables=frozenset({"commits", "generations", "members", "assignments", "reconciliations", "deletions", "markers"}),
            is_exported=True,
        ),
        Rule(
            TRANSACTIONS,
            TransactionalIdsState,
            Keyed(),
            tables=frozenset({"transactions", "producers", "transitions"}),
            is_exported=True,
        ),
        Rule(
            SHARE_STATE,
            ShareState,
            Folded(lambda state: ShareFold(state.shard)),
            tables=frozenset({"share_state"}),
            is_exported=True,
        ),
    )
}


def rule_of(shard: str) -> Rule:
    """Return the rule for a shard's name, such as ``__consumer_offsets-7``. Raises KeyError for an unknown kind."""
    return RULES[topic_of(shard)]
