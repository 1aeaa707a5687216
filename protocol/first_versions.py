"""The first versions of requests with a different form, where more than one module needs them."""

from __future__ import annotations

from typing import Final

RECORDS_BY_TOPIC_ID: Final = 13
"""Fetch and Produce: topic ids in place of names."""
DELETION_BY_TOPIC_ID: Final = 6
"""DeleteTopics: topic ids beside names."""
COORDINATOR_KEYS: Final = 4
"""FindCoordinator: several keys."""
COORDINATORS_OF_SHARE_PARTITIONS: Final = 6
"""FindCoordinator: keys that are share partitions."""
PARTITIONS_OF_BROKERS: Final = 4
"""AddPartitionsToTxn: several transactions, as brokers send them. It belongs to version 2 of transactions."""
OFFSETS_BY_TOPIC_ID: Final = 10
"""OffsetCommit and OffsetFetch: topic ids in place of names."""
SEVERAL_GROUPS: Final = 8
"""OffsetFetch: several groups."""
