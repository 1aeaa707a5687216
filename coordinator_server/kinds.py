"""The kinds of shard: one row per internal topic, with the data that the generic packages need.

Like config/, every package may import this table, and it imports only ``protocol``. Two other tables have the code of each kind:
``server/hosting/builders.py`` builds its state machine, ``pipeline/rules.py`` compacts, replays and digests its log. A test
checks that both have a row for every kind.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from protocol.coordinator_records import CLUSTER_METADATA_SERDE, GROUP_SERDE, SHARE_SERDE, TRANSACTION_SERDE, RecordSerde


class Kind(Struct, frozen=True):
    """One internal topic.

    ``partitions`` is the name of the property with the number of partitions, or a fixed number. The number is stored in
    ``meta.properties`` and never changes. ``key_type`` is the key type of FindCoordinator, or None if clients do not look up the
    kind. A kind that is not ``is_permanent`` has no directories and no shards until its first use.
    """

    topic: str
    serde: RecordSerde
    partitions: str | int
    key_type: int | None = None
    has_checkpoint: bool = False
    is_permanent: bool = False


GROUPS: Final = Kind(
    "__consumer_offsets",
    GROUP_SERDE,
    "offsets.topic.num.partitions",
    key_type=0,
    has_checkpoint=True,
    is_permanent=True,
)
TRANSACTIONS: Final = Kind("__transaction_state", TRANSACTION_SERDE, "transaction.state.log.num.partitions", key_type=1)
SHARE_STATE: Final = Kind("__share_group_state", SHARE_SERDE, "share.coordinator.state.topic.num.partitions", key_type=2)
CATALOG: Final = Kind("__cluster_metadata", CLUSTER_METADATA_SERDE, 1, is_permanent=True)

KINDS: Final[dict[str, Kind]] = {kind.topic: kind for kind in (CATALOG, GROUPS, TRANSACTIONS, SHARE_STATE)}
"""Every kind, by topic. The catalog is first, because the others need the topics."""


def partition_counts(config: Struct) -> dict[str, int]:
    """Return the number of partitions of every kind, by topic.

    ``config`` has them as properties: attributes with underscores in place of dots (``LogConfig``).
    """
    return {
        topic: kind.partitions if isinstance(kind.partitions, int) else getattr(config, kind.partitions.replace(".", "_"))
        for topic, kind in KINDS.items()
    }


def topic_of(shard: str) -> str:
    """Return the topic of a shard's name, for example of ``__consumer_offsets-7``."""
    return shard.rpartition("-")[0]


def kind_of(shard: str) -> Kind | None:
    """Return the kind of a shard's name, or None if it is not a shard of this server."""
    topic, _, partition = shard.rpartition("-")
    return KINDS.get(topic) if partition.isdecimal() else None
