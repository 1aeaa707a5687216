"""The kinds of shard: one row per internal topic, with all that the generic parts need to know of it.

A table of facts, like config.py: everybody may read it, and it reads nobody but ``protocol``. Two maps say what to do with a kind:
``server/builders.py`` how its state machine is built, ``pipeline/rules.py`` how its log is compacted, replayed and digested. A test
proves that both have a row for every kind that is here.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from msgspec import Struct

from protocol.coordinator_records import CLUSTER_METADATA_SERDE, GROUP_SERDE, SHARE_SERDE, TRANSACTION_SERDE, RecordSerde


class Retention(Enum):
    """What compaction keeps of a log."""

    KEYED = "keyed"
    """The last record of every key."""
    FOLDED = "folded"
    """What the state machine itself writes for its state: records add up, or have no keys, so the last of a key is not enough."""


class Kind(Struct, frozen=True):
    """One internal topic.

    ``partitions`` is the name of the property that has their number, or a fixed number; the number is written into ``meta.properties``
    and stays. ``key_type`` is that of FindCoordinator; None for a kind that no client looks for. A kind that is not ``is_permanent``
    has no directories and no shards until its first use.
    """

    topic: str
    serde: RecordSerde
    partitions: str | int
    retention: Retention
    key_type: int | None = None
    has_checkpoint: bool = False
    is_permanent: bool = False


GROUPS: Final = Kind(
    "__consumer_offsets",
    GROUP_SERDE,
    "offsets.topic.num.partitions",
    Retention.KEYED,
    key_type=0,
    has_checkpoint=True,
    is_permanent=True,
)
TRANSACTIONS: Final = Kind(
    "__transaction_state", TRANSACTION_SERDE, "transaction.state.log.num.partitions", Retention.KEYED, key_type=1
)
SHARE_STATE: Final = Kind(
    "__share_group_state", SHARE_SERDE, "share.coordinator.state.topic.num.partitions", Retention.FOLDED, key_type=2
)
CATALOG: Final = Kind("__cluster_metadata", CLUSTER_METADATA_SERDE, 1, Retention.FOLDED, is_permanent=True)

KINDS: Final[dict[str, Kind]] = {kind.topic: kind for kind in (CATALOG, GROUPS, TRANSACTIONS, SHARE_STATE)}
"""Every kind, by its topic; the catalog first, since the others need the topics."""


def partition_counts(config: Struct) -> dict[str, int]:
    """The number of partitions of every kind, by topic. ``config`` has a property under its name with dots made underscores (config.py)."""
    return {
        topic: kind.partitions if isinstance(kind.partitions, int) else getattr(config, kind.partitions.replace(".", "_"))
        for topic, kind in KINDS.items()
    }


def topic_of(shard: str) -> str:
    """The topic of a shard's name, such as ``__consumer_offsets-7``."""
    return shard.rpartition("-")[0]


def kind_of(shard: str) -> Kind | None:
    """The kind of a shard's name; None for what is no shard of ours."""
    topic, _, partition = shard.rpartition("-")
    return KINDS.get(topic) if partition.isdecimal() else None
