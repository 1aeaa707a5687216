"""The states of a consumer group (Kafka's ``ConsumerGroupState``)."""

from __future__ import annotations

from enum import StrEnum


class ConsumerGroupState(StrEnum):
    """The state, as ListGroups names it."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"
