"""The features that ApiVersions names: those of a Kafka 4.3.1 cluster that change what clients do here.

A client that finds a finalized feature uses what belongs to it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from protocol.messages.api_versions import FinalizedFeatureKey, SupportedFeatureKey


class Feature(NamedTuple):
    """The levels of a feature: those that the server knows, and the one that is in use."""

    name: str
    first: int
    last: int
    finalized: int


FEATURES: Final = (
    # 4.3-IV0. No API of this server depends on it; tools show it.
    Feature("metadata.version", 7, 30, 30),
    # Each end of a transaction takes an epoch (KIP-890). Without it, Java clients use the first version of transactions.
    Feature("transaction.version", 0, 2, 2),
    # The consumer protocol (KIP-848).
    Feature("group.version", 0, 1, 1),
    # Share groups (KIP-932).
    Feature("share.version", 0, 1, 1),
    # Streams groups (KIP-1071).
    Feature("streams.version", 0, 1, 1),
)
EPOCH: Final = 4
"""Clients believe the features with the largest epoch that they have seen: increase it with each change of the table."""

FIRST_WITH_LEVEL_0: Final = 4
"""The first version of ApiVersions whose clients understand that a feature begins at level 0."""


def supported_features(version: int) -> list[SupportedFeatureKey]:
    """Return the features that a client of this version of ApiVersions understands."""
    return [
        SupportedFeatureKey(each.name, each.first, each.last) for each in FEATURES if each.first or version >= FIRST_WITH_LEVEL_0
    ]


def finalized_features() -> list[FinalizedFeatureKey]:
    """Return the features in use, with their levels."""
    return [FinalizedFeatureKey(each.name, each.finalized, each.finalized) for each in FEATURES]
