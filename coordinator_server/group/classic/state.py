"""The states of a classic group and the transitions between them.

    EMPTY ──join──► PREPARING_REBALANCE ──all joined, or time is up──► COMPLETING_REBALANCE ──leader's sync is durable──► STABLE
      ▲                 │       ▲                                              │                                            │
      └──no members─────┘       └──────────── join, leave, expiry, failure ────┴────────────────────────────────────────────┘

DEAD is the final state: the shard was unloaded, or the record that created the group never became durable.
"""

from __future__ import annotations

from enum import Enum


class ClassicGroupState(Enum):
    """The state of a classic group. The values are the names in DescribeGroups and ListGroups."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


EMPTY = ClassicGroupState.EMPTY
PREPARING_REBALANCE = ClassicGroupState.PREPARING_REBALANCE
COMPLETING_REBALANCE = ClassicGroupState.COMPLETING_REBALANCE
STABLE = ClassicGroupState.STABLE
DEAD = ClassicGroupState.DEAD

VALID_PREVIOUS_STATES: dict[ClassicGroupState, frozenset[ClassicGroupState]] = {
    EMPTY: frozenset({PREPARING_REBALANCE}),
    PREPARING_REBALANCE: frozenset({STABLE, COMPLETING_REBALANCE, EMPTY}),
    COMPLETING_REBALANCE: frozenset({PREPARING_REBALANCE}),
    STABLE: frozenset({COMPLETING_REBALANCE}),
    DEAD: frozenset(ClassicGroupState),
}
