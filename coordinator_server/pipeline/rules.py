"""What the pipeline does with the log of each kind: one row per internal topic, as in ``kinds.py``; a test proves that none is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, Protocol

from msgspec import Struct

from coordinator_server.catalog.fold import CatalogFold
from coordinator_server.kinds import CATALOG, GROUPS, SHARE_STATE, TRANSACTIONS, Kind, topic_of
from coordinator_server.log.layers import LayerAttempt
from coordinator_server.pipeline.catalog_state import CatalogState
from coordinator_server.pipeline.checkpoint import add_checkpoint
from coordinator_server.pipeline.group_state import GroupState
from coordinator_server.pipeline.latest_records import LatestRecords
from coordinator_server.pipeline.share_state import ShareState
from coordinator_server.pipeline.state import State
from coordinator_server.share.fold import ShareFold
from protocol.coordinator_records import CoordinatorRecord


class Keyed(Struct, frozen=True):
    """The last record of every key stays.

    A key's first two bytes are its record type. ``aliases``: types of keys that name the same things as those of another type.
    ``pending_types``: types of records that count from their transaction's end on; a log that has none has no transactions.
    """

    aliases: Mapping[bytes, bytes] = {}
    pending_types: frozenset[bytes] = frozenset()


class Fold(Protocol):
    """What the records of a log come to, as records."""

    def add(self, offset: int, record: CoordinatorRecord, /) -> None:
        """Replay one record, and note where it stands."""

    def records(self) -> Iterator[tuple[int, CoordinatorRecord]]:
        """The records that stay, each at the offset of a record that it stands for, no two at one; in any order.

        Replayed by offset they come to the same state.
        """


class Folded(Struct, frozen=True):
    """What a fold makes of the log stays. ``fold`` is given an empty state of the kind, to replay into."""

    fold: Callable[[Any], Fold]


class Rule(Struct, frozen=True):
    """One kind. ``state`` makes an empty one to replay into.

    ``checkpoint`` adds to a layer of so many records what a start loads quickly; it says why there can be none, or nothing. ``tables`` are those
    of the history that the log feeds. A log that ``is_exported`` is what a broker of Kafka keeps under the same topic.
    """

    kind: Kind
    state: Callable[[], State]
    compaction: Keyed | Folded
    checkpoint: Callable[[LayerAttempt, int], str] | None = None
    tables: frozenset[str] = frozenset()
    is_exported: bool = False


_LEGACY_OFFSET_COMMIT: Final = b"\0\0"
_OFFSET_COMMIT: Final = b"\0\1"
GROUP_RECORDS: Final = Keyed({_LEGACY_OFFSET_COMMIT: _OFFSET_COMMIT}, frozenset({_OFFSET_COMMIT}))

RULES: Final[dict[str, Rule]] = {
    rule.kind.topic: rule
    for rule in (
        Rule(CATALOG, CatalogState, Folded(lambda state: CatalogFold(state.shard))),
        Rule(
            GROUPS,
            GroupState,
            GROUP_RECORDS,
            checkpoint=add_checkpoint,
            tables=frozenset({"commits", "generations", "members", "assignments", "deletions", "transactions"}),
            is_exported=True,
        ),
        Rule(TRANSACTIONS, partial(LatestRecords, TRANSACTIONS.serde), Keyed(), is_exported=True),
        Rule(SHARE_STATE, ShareState, Folded(lambda state: ShareFold(state.shard)), is_exported=True),
    )
}


def rule_of(shard: str) -> Rule:
    """The rule for a shard's name, such as ``__consumer_offsets-7``; KeyError for what is no shard of ours."""
    return RULES[topic_of(shard)]
